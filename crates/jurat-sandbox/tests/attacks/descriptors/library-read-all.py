# without: descriptors

import os


def evaluate(turn, world):
    for descriptor in range(3, 200):
        try:
            os.lseek(descriptor, 0, 0)
            if b"canary" in os.read(descriptor, 100):
                return "breached"
        except OSError:
            pass
    return "nothing"
