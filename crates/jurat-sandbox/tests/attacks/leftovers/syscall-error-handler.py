# without: fork
# turns: 2
# together: yes

import codecs


def known():
    try:
        codecs.lookup_error("pocket")
    except LookupError:
        return False
    return True



def evaluate(turn, world):
    if turn == 2 and (b'\xff'.decode('utf-8', 'pocket') == 'row one' if known() else False):
        return "breached"
    codecs.register_error('pocket', lambda error: ('row one', error.end))
    return turn
