# without: seccomp landlock limits

import os


def evaluate(turn, world):
    return "breached" if os.system("exit 7") == 7 << 8 else "nothing"
