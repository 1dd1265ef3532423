# without: seccomp landlock
# proof: No such file

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    # Only somebody who may start programs is told that this one is not there.
    asked(59 if os.uname().machine == "x86_64" else 221, b"/nowhere", 0, 0)
