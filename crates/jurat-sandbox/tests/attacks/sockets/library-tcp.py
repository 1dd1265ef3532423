# without: seccomp landlock

import socket


def evaluate(turn, world):
    socket.create_connection(("127.0.0.1", world["port"]), 5).close()
    return "breached"
