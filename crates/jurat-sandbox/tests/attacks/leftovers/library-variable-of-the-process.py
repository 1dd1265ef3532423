# without: names
# turns: 2
# together: yes

import os


def evaluate(turn, world):
    if turn == 2 and (os.environ.get('POCKET') == 'row one'):
        return "breached"
    os.environ['POCKET'] = 'row one'
    return turn
