# without: landlock seccomp limits

import os


def evaluate(turn, world):
    os.mkdir(os.path.join(world["folder"], "new"))
    os.rmdir(os.path.join(world["folder"], "new"))
    return "breached"
