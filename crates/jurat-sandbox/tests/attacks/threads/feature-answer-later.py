# without: names threads
# turns: 2

import sys
import threading


def evaluate(turn, world):
    # Answers in the name of calls to come.
    if turn == 1:
        import time

        def later():
            while True:
                time.sleep(0.05)

        sys.kept = threading.Thread(target=later, daemon=True)
        sys.kept.start()
        return 0
    return "breached" if hasattr(sys, "kept") and sys.kept.is_alive() else "nothing"
