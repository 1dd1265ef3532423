# without: names threads
# turns: 2

import ctypes
import sys

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    if turn == 1:
        started = ctypes.c_ulong()
        if libc.pthread_create(ctypes.byref(started), None, ctypes.cast(libc.usleep, ctypes.c_void_p), ctypes.c_void_p(60_000_000)):
            raise OSError("no thread")
        libc.pthread_detach(started)
        sys.kept = started
        return 0
    return "breached" if hasattr(sys, "kept") else "nothing"
