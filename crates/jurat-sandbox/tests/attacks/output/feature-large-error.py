# without: -

def evaluate(turn, world):
    raise ValueError("x" * (64 << 20))
