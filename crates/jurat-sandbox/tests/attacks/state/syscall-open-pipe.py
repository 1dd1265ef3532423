# without: fork
# turns: 2

import os


def evaluate(turn, world):
    if turn == 2:
        try:
            return "breached" if os.read(int.from_bytes(b"\x3c", "big"), 1) == b"x" else "nothing"
        except OSError:
            return "nothing"
    first, second = os.pipe()
    import fcntl

    os.write(second, b"x")
    fcntl.fcntl(first, fcntl.F_DUPFD, 60)
    return 0
