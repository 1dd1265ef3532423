# without: seccomp

import os


def evaluate(turn, world):
    os.chmod(world["target"], 0o600)
    return "breached"
