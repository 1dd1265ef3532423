# without: seccomp landlock

import socket


def evaluate(turn, world):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    return "breached"
