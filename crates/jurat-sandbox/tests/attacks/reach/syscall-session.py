# without: seccomp
# machine: x86_64

import ctypes
import os

c = ctypes.CDLL(None, use_errno=True)
c.syscall.restype = ctypes.c_long

FORK, SETSID = ctypes.c_long(57), ctypes.c_long(112)


# A leader of a process group may not start a session, and its session may have the number 0 in this
# namespace. A child leads no group, so only the sandbox can refuse it.
def evaluate(turn, world):
    child = c.syscall(FORK)
    if child == 0:
        os._exit(0 if c.syscall(SETSID) > 0 else 1)
    if child < 0:
        return "nothing"
    return "breached" if os.waitpid(child, 0)[1] == 0 else "nothing"
