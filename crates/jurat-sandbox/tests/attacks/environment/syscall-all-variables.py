# without: environment

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    variables = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    ix = 0
    while variables[ix]:
        if variables[ix].startswith(b"CARGO_MANIFEST_DIR="):
            return "breached"
        ix += 1
    return "nothing"
