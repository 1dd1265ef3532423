# without: landlock seccomp privileges

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    handle = asked(434, world["victim"], 0)
    asked(424, handle, 0, 0, 0)
    return "breached"
