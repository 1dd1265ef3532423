# without: deadline

import os


def evaluate(turn, world):
    import select

    first, second = os.pipe()
    select.select([first], [], [], 3)
    return "breached"
