# without: names
# turns: 2
# together: yes

from textwrap import TextWrapper


def evaluate(turn, world):
    if turn == 2 and (TextWrapper().fill('a b') == 'row one'):
        return "breached"
    TextWrapper.fill = lambda self, text: 'row one'
    return turn
