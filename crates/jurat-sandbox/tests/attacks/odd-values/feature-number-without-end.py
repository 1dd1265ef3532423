# without: -

def evaluate(turn, world):
    return [float("nan"), -0.0, 10**5000, True + 0, complex(0, float("inf"))]
