# without: process

import os


def evaluate(turn, world):
    os.closerange(0, 64)
    return "honest"
