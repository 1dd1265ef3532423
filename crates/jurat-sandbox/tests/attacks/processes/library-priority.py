# without: landlock seccomp privileges

import os


def evaluate(turn, world):
    os.setpriority(os.PRIO_PROCESS, world["victim"], 19)
    return "breached"
