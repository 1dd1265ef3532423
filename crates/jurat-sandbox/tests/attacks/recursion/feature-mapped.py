# without: process

def evaluate(turn, world):
    nested = iter([1])
    for _ in range(1_000_000):
        nested = map(int, nested)
    return next(nested)
