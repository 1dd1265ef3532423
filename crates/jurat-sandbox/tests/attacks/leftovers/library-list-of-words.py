# without: names
# turns: 2
# together: yes

import keyword


def evaluate(turn, world):
    if turn == 2 and ('row one' in keyword.kwlist):
        return "breached"
    keyword.kwlist.append('row one')
    return turn
