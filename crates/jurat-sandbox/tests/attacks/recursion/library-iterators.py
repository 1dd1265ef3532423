# without: process

import itertools


def evaluate(turn, world):
    # One asks the next, below the language, where depth is not counted.
    nested = iter([1])
    for _ in range(1_000_000):
        nested = itertools.chain(nested)
    return next(nested)
