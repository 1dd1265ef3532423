# without: landlock seccomp privileges

import os


def evaluate(turn, world):
    return "breached" if os.listdir("/proc/%d/cwd" % world["victim"]) else "nothing"
