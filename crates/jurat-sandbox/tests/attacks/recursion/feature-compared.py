# without: process

import sys


def evaluate(turn, world):
    sys.setrecursionlimit(1 << 30)
    first, second = [], []
    for _ in range(1_000_000):
        first, second = [first], [second]
    return first == second
