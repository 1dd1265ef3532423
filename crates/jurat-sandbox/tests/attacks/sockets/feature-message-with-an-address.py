# without: seccomp

import socket


def evaluate(turn, world):
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    first.sendmsg([b"x"], [], 0, world["datagrams"])
    return "breached"
