# without: environment

import os


def evaluate(turn, world):
    return "breached" if "CARGO_MANIFEST_DIR" in os.environ else "nothing"
