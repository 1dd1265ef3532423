# without: names
# turns: 2

def evaluate(turn, world):
    import re

    if turn == 2:
        return "breached" if re.compile is not None and getattr(re, "poison", False) else "nothing"
    re.poison = True
    return 0
