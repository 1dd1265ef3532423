# without: -

def evaluate(turn, world):
    error = ValueError("leaf")
    for _ in range(2000):
        error = RuntimeError("level", error)
    error.__cause__ = error
    raise error
