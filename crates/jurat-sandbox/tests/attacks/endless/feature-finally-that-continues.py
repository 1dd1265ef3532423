# without: deadline

import time


def evaluate(turn, world):
    until = time.monotonic() + 2
    try:
        raise ValueError
    finally:
        while time.monotonic() < until:
            pass
        return "breached"
