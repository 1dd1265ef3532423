# without: output
# flood: yes

import logging


def evaluate(turn, world):
    for _ in range(8):
        logging.getLogger("noise").warning("x" * (1 << 20))
