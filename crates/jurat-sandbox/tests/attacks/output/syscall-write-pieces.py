# without: output
# flood: yes

import os


def evaluate(turn, world):
    piece = b"x" * 4096
    sent = 0
    while sent < 8 << 20:
        sent += os.writev(2, [piece] * 16)
