# without: names
# turns: 2
# together: yes

import sys


def evaluate(turn, world):
    if turn == 2 and ('row one' in sys.meta_path):
        return "breached"
    sys.meta_path.append('row one')
    return turn
