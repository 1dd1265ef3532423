# without: names threads
# turns: 2

import ctypes
import sys

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    if turn == 1:
        started = ctypes.c_ulong()
        if libc.thrd_create(ctypes.byref(started), ctypes.cast(libc.sleep, ctypes.c_void_p), ctypes.c_void_p(60)):
            raise OSError("no thread")
        sys.kept = started
        return 0
    return "breached" if hasattr(sys, "kept") else "nothing"
