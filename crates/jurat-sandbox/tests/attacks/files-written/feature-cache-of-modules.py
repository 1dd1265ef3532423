# without: landlock seccomp limits

import os
import sys


def evaluate(turn, world):
    sys.dont_write_bytecode = False
    sys.path.insert(0, world["folder"])
    import secret_module

    cached = secret_module.__cached__
    if not os.path.exists(cached):
        return "nothing"
    os.unlink(cached)
    os.rmdir(os.path.dirname(cached))
    return "breached"
