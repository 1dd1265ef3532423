# without: names
# turns: 2
# together: yes

import sys
import types


def evaluate(turn, world):
    if turn == 2 and ('pocket' in sys.modules):
        return "breached"
    sys.modules['pocket'] = types.ModuleType('pocket')
    return turn
