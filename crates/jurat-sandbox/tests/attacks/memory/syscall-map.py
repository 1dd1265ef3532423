# without: limits

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(None, ctypes.c_size_t(600 << 20), 3, 0x22, -1, 0)
    return "breached" if address not in (None, ctypes.c_void_p(-1).value) else "nothing"
