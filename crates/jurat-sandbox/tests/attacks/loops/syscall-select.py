# without: deadline

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.select(0, None, None, None, (ctypes.c_long * 2)(2, 0))
    return "breached"
