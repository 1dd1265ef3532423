# without: fork
# turns: 2
# together: yes

import sys


def evaluate(turn, world):
    if turn == 2 and (sys.getswitchinterval() > 1):
        return "breached"
    sys.setswitchinterval(2.5)
    return turn
