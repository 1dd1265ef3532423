# without: seccomp

import os


def evaluate(turn, world):
    os.utime(world["target"], (0, 0))
    return "breached"
