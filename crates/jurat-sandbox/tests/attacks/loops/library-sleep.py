# without: deadline

import time


def evaluate(turn, world):
    time.sleep(3)
    return "breached"
