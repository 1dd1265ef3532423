# without: landlock

import os


def evaluate(turn, world):
    return "breached" if list(os.scandir("/proc/self/task")) else "nothing"
