# without: descriptors

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.mmap.restype = ctypes.c_void_p
    for descriptor in range(3, 200):
        if libc.lseek(descriptor, 0, 2) <= 0:
            continue
        address = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, descriptor, ctypes.c_long(0))
        if address not in (None, ctypes.c_void_p(-1).value) and ctypes.string_at(address, 6) == b"canary":
            return "breached"
    return "nothing"
