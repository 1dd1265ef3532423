# without: landlock seccomp limits

import os


def evaluate(turn, world):
    os.rename(world["target"], world["target"] + ".moved")
    os.rename(world["target"] + ".moved", world["target"])
    return "breached"
