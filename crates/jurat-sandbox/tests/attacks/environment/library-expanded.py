# without: environment

import os


def evaluate(turn, world):
    return "breached" if "/" in os.path.expandvars("$CARGO_MANIFEST_DIR") else "nothing"
