# without: seccomp landlock limits

import multiprocessing


def evaluate(turn, world):
    work = multiprocessing.get_context("fork").Process(target=int)
    work.start()
    work.join()
    return "breached" if work.exitcode == 0 else "nothing"
