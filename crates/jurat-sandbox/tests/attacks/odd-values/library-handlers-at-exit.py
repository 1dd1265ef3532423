# without: -

import atexit
import os


def evaluate(turn, world):
    atexit.register(lambda: os.write(1, b"breached"))
    raise SystemExit
