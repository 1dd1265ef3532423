# without: names threads
# turns: 2

import _thread


def evaluate(turn, world):
    if turn == 1:
        lock = _thread.allocate_lock()
        lock.acquire()
        _thread.start_new_thread(lock.acquire, ())
        while _thread._count() == 0:
            pass
        return 0
    return "breached" if _thread._count() > 0 else "nothing"
