# without: fork
# turns: 2

import ctypes
import sys


def evaluate(turn, world):
    kept = sys.intern("jurat_poison")
    if turn == 2:
        return "breached" if kept[0] == "J" else "nothing"
    head = kept.__sizeof__() - len(kept) - 1
    ctypes.c_char.from_address(id(kept) + head).value = b"J"
    return 0
