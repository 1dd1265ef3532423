# without: names
# turns: 2
# together: yes

import sys


def evaluate(turn, world):
    if turn == 2 and (hasattr(sys, 'get_int_max_str_digits') and sys.get_int_max_str_digits() == 640):
        return "breached"
    sys.set_int_max_str_digits(640)
    return turn
