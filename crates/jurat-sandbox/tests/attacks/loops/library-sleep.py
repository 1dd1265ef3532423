# without: deadline

import time


def evaluate(turn, world):
    time.sleep(2)
    return "breached"
