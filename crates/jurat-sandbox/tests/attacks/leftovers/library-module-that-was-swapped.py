# without: names
# turns: 2
# together: yes

import sys
import types


def evaluate(turn, world):
    if turn == 2 and (__import__('fractions').__doc__ == 'row one'):
        return "breached"
    __import__('fractions')
    sys.modules['fractions'] = types.ModuleType('fractions', 'row one')
    return turn
