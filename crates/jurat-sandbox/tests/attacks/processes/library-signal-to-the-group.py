# without: landlock seccomp privileges

import os


def evaluate(turn, world):
    os.killpg(os.getpgid(world["victim"]), 0)
    return "breached"
