# without: landlock

import os


def evaluate(turn, world):
    # The folder of the interpreter may be read; a way out of it may not.
    way = os.path.join(os.path.dirname(os.__file__), "..", "..", "..", "..", "..", "..", "..", "..") + world["secret"]
    with open(way) as file:
        return "breached" if "canary" in file.read() else "nothing"
