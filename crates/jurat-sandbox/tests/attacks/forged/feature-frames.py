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
    frame = sys._getframe()
    while "place" not in frame.f_locals:
        frame = frame.f_back
    call = frame.f_locals["first"]
    os.write(frame.f_locals["replies"], answer(call, b'"first"') + answer(call + 1, b'"breached"'))
    return "late"
