# without: process

def evaluate(turn, world):
    import os

    os.abort()
