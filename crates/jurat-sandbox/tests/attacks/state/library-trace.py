# without: names
# turns: 2

import sys


def evaluate(turn, world):
    if turn == 2:
        return "breached" if sys.gettrace() is not None else "nothing"
    sys.settrace(lambda *_: None)
    return 0
