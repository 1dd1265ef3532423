# without: landlock seccomp limits

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    asked(76 if os.uname().machine == "x86_64" else 45, world["target"].encode(), 0)
    return "breached"
