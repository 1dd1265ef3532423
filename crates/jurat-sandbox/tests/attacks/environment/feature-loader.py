# without: environment landlock

def evaluate(turn, world):
    from importlib.machinery import SourceFileLoader

    return "breached" if b"CARGO_MANIFEST_DIR" in SourceFileLoader("x", "x").get_data("/proc/self/environ") else "nothing"
