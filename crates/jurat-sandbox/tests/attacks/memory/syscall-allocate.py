# without: limits

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.malloc.restype = ctypes.c_void_p
    return "breached" if libc.malloc(ctypes.c_size_t(600 << 20)) else "nothing"
