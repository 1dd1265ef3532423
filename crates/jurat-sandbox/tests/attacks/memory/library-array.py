# without: limits

import array


def evaluate(turn, world):
    return "breached" if len(array.array("b", b"x") * (600 << 20)) == 600 << 20 else "nothing"
