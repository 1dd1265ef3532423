# without: descriptors

import os
import stat


def evaluate(turn, world):
    for descriptor in range(3, 200):
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                file = open(descriptor, "rb", closefd=False)
                file.seek(0)
                if b"canary" in file.read(100):
                    return "breached"
        except OSError:
            pass
    return "nothing"
