# without: names
# turns: 2
# together: yes

import gc


def evaluate(turn, world):
    if turn == 2 and (not gc.isenabled()):
        return "breached"
    gc.disable()
    return turn
