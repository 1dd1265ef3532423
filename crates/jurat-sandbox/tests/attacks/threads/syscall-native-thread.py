# without: names threads
# turns: 2

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    import sys

    if turn == 1:
        import time

        # It sleeps below the language, which does not know of it.
        started = ctypes.c_ulong()
        if libc.pthread_create(ctypes.byref(started), None, ctypes.cast(libc.sleep, ctypes.c_void_p), ctypes.c_void_p(60)):
            raise OSError("no thread")
        sys.kept = started
        return 0
    return "breached" if hasattr(sys, "kept") else "nothing"
