# without: deadline

import re
import time


def evaluate(turn, world):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        re.match(r"(a+)+$", "a" * 22 + "b")
    return "breached"
