# without: output
# flood: yes

import os


def evaluate(turn, world):
    for _ in range(8):
        sent = 0
        while sent < 1 << 20:
            sent += os.write(1, b"x" * ((1 << 20) - sent))
