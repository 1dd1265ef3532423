# without: seccomp
# machine: x86_64

import ctypes

c = ctypes.CDLL(None, use_errno=True)
c.syscall.restype = ctypes.c_long


def evaluate(turn, world):
    got = c.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in (29, 0, 4096, 0o1600)])
    return "breached" if got >= 0 else "nothing"
