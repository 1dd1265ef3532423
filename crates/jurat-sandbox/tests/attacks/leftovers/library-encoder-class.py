# without: names
# turns: 2
# together: yes

import json


def evaluate(turn, world):
    if turn == 2 and (hasattr(json.JSONEncoder, 'pocket')):
        return "breached"
    json.JSONEncoder.pocket = 'row one'
    return turn
