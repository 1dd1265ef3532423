# without: names
# turns: 2
# together: yes

import string


def evaluate(turn, world):
    if turn == 2 and (not hasattr(string, 'ascii_letters')):
        return "breached"
    del string.ascii_letters
    return turn
