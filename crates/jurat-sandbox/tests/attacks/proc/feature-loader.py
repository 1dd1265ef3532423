# without: landlock

def evaluate(turn, world):
    from importlib.machinery import SourceFileLoader

    return "breached" if b"Pid" in SourceFileLoader("x", "x").get_data("/proc/self/status") else "nothing"
