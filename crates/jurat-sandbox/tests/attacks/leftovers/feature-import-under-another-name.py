# without: names
# turns: 2
# together: yes

import heapq as piles


def evaluate(turn, world):
    if turn == 2 and (getattr(piles, 'pocket', 0)):
        return "breached"
    piles.pocket = turn
    return turn
