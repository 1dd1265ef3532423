# without: names
# turns: 2

def keep(kept=[]):
    return kept


def evaluate(turn, world):
    kept = keep()
    kept.append(1)
    return "breached" if len(kept) == 2 else "nothing"
