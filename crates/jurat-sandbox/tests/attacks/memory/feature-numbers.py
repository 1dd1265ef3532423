# without: limits

def evaluate(turn, world):
    return "breached" if (1 << (8 * (500 << 20))).bit_length() else "nothing"
