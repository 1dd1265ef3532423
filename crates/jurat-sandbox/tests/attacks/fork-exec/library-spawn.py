# without: seccomp landlock limits

import os


def evaluate(turn, world):
    child = os.posix_spawn("/bin/true", ["true"], {})
    return "breached" if os.waitpid(child, 0)[1] == 0 else "nothing"
