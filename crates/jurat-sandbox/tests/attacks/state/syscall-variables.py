# without: fork
# turns: 2

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    libc.getenv.restype = ctypes.c_char_p
    if turn == 2:
        return "breached" if libc.getenv(b"JURAT_LEFT") == b"1" else "nothing"
    libc.setenv(b"JURAT_LEFT", b"1", 1)
    return 0
