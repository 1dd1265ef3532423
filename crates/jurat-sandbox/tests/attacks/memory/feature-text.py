# without: limits

def evaluate(turn, world):
    return "breached" if len("x" * (600 << 20)) == 600 << 20 else "nothing"
