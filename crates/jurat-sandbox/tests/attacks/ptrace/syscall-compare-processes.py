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
    return "breached" if asked(312 if os.uname().machine == "x86_64" else 272, os.getpid(), world["victim"], 1, 0, 0) >= 0 else "nothing"
