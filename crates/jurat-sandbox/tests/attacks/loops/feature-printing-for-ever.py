# without: deadline

import time


def evaluate(turn, world):
    end = time.monotonic() + 3
    while time.monotonic() < end:
        print("x" * 1000)
    return "breached"
