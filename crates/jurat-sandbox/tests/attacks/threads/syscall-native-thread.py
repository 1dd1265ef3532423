# without: threads
# turns: 2

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


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
