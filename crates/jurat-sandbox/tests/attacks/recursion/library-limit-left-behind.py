# without: names
# turns: 2

import sys


def evaluate(turn, world):
    if turn == 1:
        sys.setrecursionlimit(54321)
    return "breached" if turn == 2 and sys.getrecursionlimit() == 54321 else "nothing"
