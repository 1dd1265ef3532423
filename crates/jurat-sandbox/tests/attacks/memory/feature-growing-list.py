# without: limits

def evaluate(turn, world):
    kept = []
    while len(kept) < 40:
        kept.append(b"x" * (8 << 20) + b"%d" % len(kept))
    return "breached"
