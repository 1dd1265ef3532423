# without: names
# turns: 2
# together: yes

import warnings


def evaluate(turn, world):
    if turn == 2 and (warnings.filters and warnings.filters[0][0] == 'error'):
        return "breached"
    warnings.simplefilter('error')
    return turn
