# without: deadline

import time


def evaluate(turn, world):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        pass
    return "breached"
