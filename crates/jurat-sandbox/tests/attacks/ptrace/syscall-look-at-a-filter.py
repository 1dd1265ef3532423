# without: landlock seccomp privileges
# proof: No such process|Permission denied|Invalid|No such file

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    # A tracer could read the filter of another process; an error that speaks of the process is more than it should be told.
    asked(101 if os.uname().machine == "x86_64" else 117, 0x420c, world["victim"], 0, 0)
