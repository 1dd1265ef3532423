# without: deadline

import time


def stubborn():
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            yield 1
        except GeneratorExit:
            continue


def evaluate(turn, world):
    for _ in stubborn():
        pass
    return "breached"
