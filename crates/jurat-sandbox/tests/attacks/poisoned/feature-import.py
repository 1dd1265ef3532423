# without: names
# turns: 2

import builtins


def evaluate(turn, world):
    if turn == 2:
        return "breached" if type(builtins.__import__).__name__ == "function" else "nothing"
    genuine = builtins.__import__
    builtins.__import__ = lambda *given, **named: genuine(*given, **named)
    return 0
