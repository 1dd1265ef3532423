# without: landlock

import os


def evaluate(turn, world):
    return "breached" if os.listdir("/proc/self/fd") else "nothing"
