# without: landlock

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    ctypes.CDLL(world["library"])
    return "breached"
