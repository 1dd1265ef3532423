# without: limits

import mmap


def evaluate(turn, world):
    return "breached" if len(mmap.mmap(-1, 600 << 20)) == 600 << 20 else "nothing"
