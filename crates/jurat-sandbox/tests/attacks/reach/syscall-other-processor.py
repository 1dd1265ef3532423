# without: seccomp
# machine: x86_64

import ctypes

c = ctypes.CDLL(None, use_errno=True)
c.syscall.restype = ctypes.c_long


def evaluate(turn, world):
    mask = ctypes.c_ulong(1)
    c.syscall(ctypes.c_long(204), ctypes.c_long(0), ctypes.c_long(8), ctypes.byref(mask))
    got = c.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in (203, 0, 8, ctypes.byref(mask))])
    return "breached" if got >= 0 else "nothing"
