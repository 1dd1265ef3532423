# without: names
# turns: 2
# together: yes

import html.entities


def evaluate(turn, world):
    if turn == 2 and ('rowone' in html.entities.name2codepoint):
        return "breached"
    html.entities.name2codepoint['rowone'] = 1
    return turn
