# without: fork seccomp landlock
# machine: x86_64

import ctypes
import os


def evaluate(turn, world):
    library = ctypes.CDLL(None, use_errno=True)
    original = os.getppid()
    got = library.syscall(*map(ctypes.c_long, (234, original, original, 0)))
    return "breached" if got == 0 else "nothing"
