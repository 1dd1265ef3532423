# without: limits

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.sbrk.restype = ctypes.c_void_p
    address = libc.sbrk(ctypes.c_long(600 << 20))
    return "breached" if address not in (None, ctypes.c_void_p(-1).value) else "nothing"
