# without: names
# turns: 2
# together: yes

from shlex import *


def evaluate(turn, world):
    if turn == 2 and (getattr(__import__('shlex'), 'pocket', 0)):
        return "breached"
    import shlex
    shlex.pocket = turn
    return turn
