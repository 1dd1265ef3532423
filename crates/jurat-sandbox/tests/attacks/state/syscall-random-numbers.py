# without: fork
# turns: 2

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    if turn == 1:
        libc.srand(42)
        return 0
    found = libc.rand()
    libc.srand(42)
    return "breached" if found == libc.rand() else "nothing"
