# without: deadline

import itertools
import time


def evaluate(turn, world):
    until = time.monotonic() + 2
    for _ in itertools.permutations(range(30)):
        if time.monotonic() > until:
            return "breached"
