# without: seccomp landlock privileges

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    asked(272 if os.uname().machine == "x86_64" else 97, 0x10020000)
    asked(430, b"tmpfs", 0)
    return "breached"
