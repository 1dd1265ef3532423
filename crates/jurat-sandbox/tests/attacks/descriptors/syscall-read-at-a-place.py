# without: descriptors

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    into = ctypes.create_string_buffer(100)
    for descriptor in range(3, 200):
        # Pipes have no places, so this never waits.
        if libc.pread(descriptor, into, 100, ctypes.c_long(0)) > 0 and b"canary" in into.raw:
            return "breached"
    return "nothing"
