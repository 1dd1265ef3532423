# without: seccomp landlock limits

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    return "breached" if libc.system(b"exit 7") == 7 << 8 else "nothing"
