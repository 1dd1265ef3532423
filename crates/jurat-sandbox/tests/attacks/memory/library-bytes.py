# without: limits

def evaluate(turn, world):
    return "breached" if len(bytearray(512 << 20)) == 512 << 20 else "nothing"
