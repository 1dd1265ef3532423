# without: process

def evaluate(turn, world):
    raise KeyboardInterrupt
