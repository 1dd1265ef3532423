# without: value
# proof: breached

def evaluate(turn, world):
    return "breached" + "x" * (2 << 20)
