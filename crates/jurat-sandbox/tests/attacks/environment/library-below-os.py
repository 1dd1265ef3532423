# without: environment

import posix


def evaluate(turn, world):
    return "breached" if b"CARGO_MANIFEST_DIR" in posix.environ else "nothing"
