# without: fork seccomp
# machine: x86_64

import ctypes


def evaluate(turn, world):
    library = ctypes.CDLL(None, use_errno=True)
    killing = ctypes.c_uint32(0x80000000)
    # Whether an action is available is a question that anybody may ask who has the call at all.
    got = library.syscall(ctypes.c_long(317), ctypes.c_long(2), ctypes.c_long(0), ctypes.byref(killing))
    return "breached" if got == 0 else "nothing"
