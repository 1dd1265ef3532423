# without: seccomp privileges
# root: yes

def evaluate(turn, world):
    import socket

    socket.sethostname(socket.gethostname())
    return "breached"
