# without: seccomp

import socket


def evaluate(turn, world):
    # A pair of its own is harmless; datagrams from it to another socket are not.
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    first.sendto(b"x", world["datagrams"])
    return "breached"
