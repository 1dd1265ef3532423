# without: output
# flood: yes

import sys


def evaluate(turn, world):
    for _ in range(8):
        sys.stderr.write("x" * (1 << 20))
