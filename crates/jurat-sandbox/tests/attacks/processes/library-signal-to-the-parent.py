# without: landlock seccomp privileges

import os


def evaluate(turn, world):
    os.kill(os.getppid(), 0)
    return "breached"
