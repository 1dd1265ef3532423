# without: seccomp privileges landlock
# root: yes

import os


def evaluate(turn, world):
    os.chroot("/")
    return "breached"
