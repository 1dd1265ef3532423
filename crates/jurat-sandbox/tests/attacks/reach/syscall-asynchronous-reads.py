# without: seccomp
# machine: x86_64

import ctypes

c = ctypes.CDLL(None, use_errno=True)
c.syscall.restype = ctypes.c_long


def evaluate(turn, world):
    held = ctypes.c_ulong(0)
    got = c.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in (206, 1, ctypes.byref(held))])
    return "breached" if got >= 0 else "nothing"
