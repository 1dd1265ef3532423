# without: seccomp
# proof: not supported|Bad file|Invalid|not implemented

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    # Whoever may ask is told that this is no ring.
    asked(427, 0, 0, 0, 0)
