# without: names
# turns: 2
# together: yes

import sys


def evaluate(turn, world):
    if turn == 2 and (sys.path[0] == 'row one'):
        return "breached"
    sys.path.insert(0, 'row one')
    return turn
