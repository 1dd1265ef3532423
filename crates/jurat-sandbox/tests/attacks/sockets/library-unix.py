# without: seccomp

import socket


def evaluate(turn, world):
    client = socket.socket(socket.AF_UNIX)
    client.connect(world["socket"])
    return "breached"
