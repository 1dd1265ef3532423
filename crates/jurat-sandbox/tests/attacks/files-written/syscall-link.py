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
    asked(86 if os.uname().machine == "x86_64" else 37, *([world["target"].encode(), (world["target"] + ".link").encode()] if os.uname().machine == "x86_64" else [-100, world["target"].encode(), -100, (world["target"] + ".link").encode(), 0]))
    os.unlink(world["target"] + ".link")
    return "breached"
