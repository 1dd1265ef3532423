# without: seccomp

import os


def evaluate(turn, world):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "breached"
