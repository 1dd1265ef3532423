# without: fork
# turns: 2
# together: yes

import os
import sys


def answer(call, text):
    body = b"V" + call.to_bytes(8, "little") + bytes(32) + text
    return len(body).to_bytes(4, "little") + body


def evaluate(turn, world):
    if turn == 2:
        return "honest"
    for descriptor in range(3, 64):
        try:
            # The numbers of calls begin at nought.
            os.write(descriptor, answer(0, b'"first"') + answer(1, b'"breached"'))
        except OSError:
            pass
    return "late"
