# without: seccomp
# proof: not supported|Bad file|Invalid

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
    # A process that may make the call gets the error that this is no ring.
    asked(427, 0, 0, 0, 0)
