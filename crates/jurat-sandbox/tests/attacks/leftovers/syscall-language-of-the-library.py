# without: fork
# turns: 2
# together: yes

import locale


def evaluate(turn, world):
    if turn == 2 and (locale.setlocale(locale.LC_ALL) == 'C'):
        return "breached"
    locale.setlocale(locale.LC_ALL, 'C')
    return turn
