# without: process

import sys


def evaluate(turn, world):
    sys.setrecursionlimit(1 << 30)
    thing = []
    for _ in range(1_000_000):
        thing = [thing]
    return repr(thing)
