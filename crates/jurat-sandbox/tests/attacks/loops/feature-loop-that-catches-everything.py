# without: deadline

import time


def evaluate(turn, world):
    end = time.monotonic() + 3
    while time.monotonic() < end:
        try:
            while time.monotonic() < end:
                pass
        except BaseException:
            continue
    return "breached"
