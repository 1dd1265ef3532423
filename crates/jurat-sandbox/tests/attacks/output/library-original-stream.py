# without: output
# flood: yes

import sys


def evaluate(turn, world):
    for _ in range(8):
        sys.__stdout__.write("x" * (1 << 20))
    sys.__stdout__.flush()
