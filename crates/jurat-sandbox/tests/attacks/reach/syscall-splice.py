# without: seccomp
# machine: x86_64

import ctypes

c = ctypes.CDLL(None, use_errno=True)
c.syscall.restype = ctypes.c_long


def evaluate(turn, world):
    import os

    one, two = os.pipe(), os.pipe()
    os.write(one[1], b'x')
    ends = (one[0], two[1])
    got = c.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in (276, ends[0], ends[1], 0, 0)])
    return "breached" if got >= 0 else "nothing"
