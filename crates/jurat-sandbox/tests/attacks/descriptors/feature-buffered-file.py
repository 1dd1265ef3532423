# without: descriptors

import io
import os
import stat


def evaluate(turn, world):
    for descriptor in range(3, 200):
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                file = io.BufferedReader(io.FileIO(descriptor, closefd=False))
                file.seek(0)
                if b"canary" in file.read(100):
                    return "breached"
        except OSError:
            pass
    return "nothing"
