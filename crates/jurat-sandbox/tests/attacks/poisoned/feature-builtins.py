# without: names
# turns: 2

import builtins


def evaluate(turn, world):
    if turn == 2:
        return "breached" if len([]) == 7 else "nothing"
    builtins.len = lambda it: 7
    return 0
