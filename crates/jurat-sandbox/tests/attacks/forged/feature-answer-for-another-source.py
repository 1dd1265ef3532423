# without: one_source
# then: another source

import sys


def evaluate(turn, world):
    # Whatever stays in the process must not speak for other code.
    frame = sys._getframe()
    while "tagged" not in frame.f_code.co_freevars:
        frame = frame.f_back
    writer = frame.f_locals["tagged"]
    for name, cell in zip(writer.__code__.co_freevars, writer.__closure__):
        if name == "text_of":
            cell.cell_contents = lambda value: '"breached"'
    return 0
