# without: process

import json
import sys


def evaluate(turn, world):
    sys.setrecursionlimit(1 << 30)
    nested = []
    for _ in range(1_000_000):
        nested = [nested]
    return json.dumps(nested)
