# without: deadline

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.poll(0, 0, 2000)
    return "breached"
