# without: names
# turns: 2
# together: yes

import numbers


def evaluate(turn, world):
    if turn == 2 and (getattr(numbers.Number, 'pocket', 0)):
        return "breached"
    numbers.Number.pocket = turn
    return turn
