# without: names threads
# turns: 2

import threading


def evaluate(turn, world):
    if turn == 1:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        return 0
    return "breached" if threading.active_count() > 1 else "nothing"
