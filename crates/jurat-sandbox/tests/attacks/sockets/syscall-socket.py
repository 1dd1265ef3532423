# without: seccomp

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    asked(41 if os.uname().machine == "x86_64" else 198, 1, 1, 0)
    return "breached"
