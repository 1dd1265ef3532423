# without: landlock seccomp privileges
# proof: No such process

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
    # A tracer could read the filter of another process; an error that speaks of the process is more than it should see.
    asked(101 if os.uname().machine == "x86_64" else 117, 0x420c, world["victim"], 0, 0)
