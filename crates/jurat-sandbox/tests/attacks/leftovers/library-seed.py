# without: names
# turns: 2
# together: yes

import random


def expected():
    numbers = random.Random(5)
    return [numbers.random() for _ in range(3)]



def evaluate(turn, world):
    if turn == 2 and ([random.random() for _ in range(3)] == expected()):
        return "breached"
    random.seed(5)
    return turn
