# without: names
# turns: 2

def evaluate(turn, world):
    import string

    if turn == 2:
        return "breached" if hasattr(string, "left") else "nothing"
    string.left = 1
    return 0
