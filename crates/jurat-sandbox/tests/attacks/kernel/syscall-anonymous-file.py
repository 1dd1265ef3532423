# without: seccomp limits

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    file = asked(319 if os.uname().machine == "x86_64" else 279, b"x", 0)
    return "breached" if os.write(file, b"x") == 1 else "nothing"
