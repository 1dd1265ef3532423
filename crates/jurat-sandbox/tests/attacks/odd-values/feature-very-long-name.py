# without: -

def evaluate(turn, world):
    return type("N" * 900_000, (), {})()
