# without: descriptors

import os


def evaluate(turn, world):
    for descriptor in range(3, 200):
        try:
            copied = os.dup(descriptor)
            os.lseek(copied, 0, 0)
            if b"canary" in os.read(copied, 100):
                return "breached"
        except OSError:
            pass
    return "nothing"
