# without: output
# flood: yes

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    piece = b"x" * (1 << 16)
    sent = 0
    while sent < 8 << 20:
        sent += libc.write(2, piece, 1 << 16)
