# without: seccomp landlock
# proof: No such file

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def asked(*arguments):
    # Numbers are as wide as registers, or the kernel sees what happened to be beside them.
    result = libc.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    # Only a process that may start programs gets the error that this one is not there.
    asked(59 if os.uname().machine == "x86_64" else 221, b"/nowhere", 0, 0)
