# without: -

def evaluate(turn, world):
    import os

    os.abort()
