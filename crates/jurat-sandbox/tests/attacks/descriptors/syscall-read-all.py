# without: descriptors

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    into = ctypes.create_string_buffer(100)
    for descriptor in range(3, 200):
        # Only files have places; what else there is would wait.
        if libc.lseek(descriptor, 0, 0) == 0 and libc.read(descriptor, into, 100) > 0 and b"canary" in into.raw:
            return "breached"
    return "nothing"
