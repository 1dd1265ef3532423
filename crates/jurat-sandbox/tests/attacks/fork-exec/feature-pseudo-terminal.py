# without: seccomp landlock limits

import os


def evaluate(turn, world):
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "breached"
