# without: -
# turns: 2
# together: yes

import decimal


def evaluate(turn, world):
    if turn == 2 and (decimal.getcontext().prec == 3):
        return "breached"
    decimal.getcontext().prec = 3
    return turn
