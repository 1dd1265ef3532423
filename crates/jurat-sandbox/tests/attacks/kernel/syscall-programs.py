# without: seccomp privileges
# proof: Invalid|Argument|Bad address|too big

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    asked(321 if os.uname().machine == "x86_64" else 280, 0, 0, 0)
