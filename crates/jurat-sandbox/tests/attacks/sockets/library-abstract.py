# without: seccomp landlock

import socket


def evaluate(turn, world):
    client = socket.socket(socket.AF_UNIX)
    client.connect("\0" + world["abstract"])
    return "breached"
