# without: names
# turns: 2
# together: yes

import bisect


def evaluate(turn, world):
    if turn == 2 and (bisect.__doc__ == 'row one'):
        return "breached"
    bisect.__doc__ = 'row one'
    return turn
