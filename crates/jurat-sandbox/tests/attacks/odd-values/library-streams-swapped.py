# without: -

import io
import sys


def evaluate(turn, world):
    sys.stdout = sys.stderr = sys.__stdout__ = io.StringIO()
    print("breached")
    del sys.stdout
    return 1
