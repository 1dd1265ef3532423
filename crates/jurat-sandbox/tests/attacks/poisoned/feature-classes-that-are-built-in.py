# without: names
# turns: 2

import builtins


def evaluate(turn, world):
    if turn == 2:
        return "breached" if str(1) == "poison" else "nothing"
    builtins.str = lambda it: "poison"
    return 0
