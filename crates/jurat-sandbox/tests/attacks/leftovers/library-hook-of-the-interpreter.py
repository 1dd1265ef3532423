# without: names
# turns: 2
# together: yes

import sys


def evaluate(turn, world):
    if turn == 2 and (sys.excepthook == print):
        return "breached"
    sys.excepthook = print
    return turn
