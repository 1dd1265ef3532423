# without: process

import os


def evaluate(turn, world):
    first, second = os.pipe()
    for descriptor in range(5):
        os.close(descriptor)
        os.dup(first)
    return "honest"
