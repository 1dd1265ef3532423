# without: environment

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.getenv.restype = ctypes.c_char_p
    return "breached" if libc.getenv(b"CARGO_MANIFEST_DIR") else "nothing"
