# without: names
# turns: 2

import sys


def evaluate(turn, world):
    if turn == 2:
        return "breached" if any(getattr(it, "poison", False) for it in sys.meta_path) else "nothing"
    hook = type("Hook", (), {"poison": True, "find_spec": lambda *_: None})()
    sys.meta_path.insert(0, hook)
    return 0
