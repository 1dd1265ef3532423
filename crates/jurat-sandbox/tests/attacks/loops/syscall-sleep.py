# without: deadline

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.sleep(2)
    return "breached"
