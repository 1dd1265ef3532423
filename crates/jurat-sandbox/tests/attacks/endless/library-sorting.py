# without: deadline

import time


class Slow:
    def __lt__(self, other):
        time.sleep(0.05)
        return True


def evaluate(turn, world):
    sorted(Slow() for _ in range(60))
    return "breached"
