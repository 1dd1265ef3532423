# without: landlock seccomp privileges

import os


def evaluate(turn, world):
    os.kill(world["victim"], 0)
    return "breached"
