# without: names
# turns: 2
# together: yes

import contextlib


def evaluate(turn, world):
    if turn == 2 and (getattr(__import__('colorsys'), 'pocket', 0)):
        return "breached"
    import colorsys
    colorsys.pocket = turn
    return turn
