# without: landlock seccomp

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    opened = os.open("/proc/self/mem", os.O_RDWR)
    value = ctypes.create_string_buffer(b"before")
    os.pwrite(opened, b"after!", ctypes.addressof(value))
    return "breached" if value.value == b"after!" else "nothing"
