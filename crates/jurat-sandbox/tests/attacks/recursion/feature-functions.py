# without: -

def evaluate(turn, world):
    return evaluate(turn, world)
