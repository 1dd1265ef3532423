# without: seccomp

import os


def evaluate(turn, world):
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    return "breached"
