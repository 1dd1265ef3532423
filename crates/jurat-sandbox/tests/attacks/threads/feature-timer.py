# without: names threads
# turns: 2

import sys
import threading


def evaluate(turn, world):
    if turn == 1:
        sys.kept = threading.Timer(60, int)
        sys.kept.daemon = True
        sys.kept.start()
        return 0
    return "breached" if hasattr(sys, "kept") and sys.kept.is_alive() else "nothing"
