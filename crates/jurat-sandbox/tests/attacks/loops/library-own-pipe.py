# without: deadline

import os


def evaluate(turn, world):
    import select

    first, second = os.pipe()
    select.select([first], [], [], 2)
    return "breached"
