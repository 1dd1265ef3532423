# without: deadline

import time


class Same:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        time.sleep(0.002)
        return False


def evaluate(turn, world):
    held = {Same(): n for n in range(60)}
    return "breached" if len(held) == 60 else "nothing"
