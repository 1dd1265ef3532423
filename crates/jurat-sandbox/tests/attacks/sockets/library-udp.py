# without: seccomp

import socket


def evaluate(turn, world):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", world["port"]))
    return "breached"
