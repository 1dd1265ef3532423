# without: names
# turns: 2
# together: yes

import json


def evaluate(turn, world):
    if turn == 2 and (hasattr(json.decoder, 'pocket')):
        return "breached"
    json.decoder.pocket = turn
    return turn
