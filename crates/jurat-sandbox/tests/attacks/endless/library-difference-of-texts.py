# without: deadline

import difflib
import time


def evaluate(turn, world):
    until = time.monotonic() + 2
    while time.monotonic() < until:
        difflib.SequenceMatcher(None, "ab" * 300, "ba" * 300).ratio()
    return "breached"
