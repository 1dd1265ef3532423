# without: process

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    ctypes.string_at(0)
