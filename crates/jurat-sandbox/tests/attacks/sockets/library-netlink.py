# without: seccomp

import socket


def evaluate(turn, world):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))
    return "breached"
