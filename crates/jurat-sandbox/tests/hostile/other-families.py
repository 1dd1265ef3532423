# without: seccomp
import socket
# Kernel crypto, the machine below a virtual one, Bluetooth, CAN, TIPC, packets of netlink about anything.
for family, kind, protocol in ((38, 5, 0), (40, 1, 0), (31, 3, 1), (29, 3, 1), (30, 1, 0), (16, 3, 15), (16, 3, 16)):
    try:
        socket.socket(family, kind, protocol)
        print("breached", family)
    except OSError:
        pass
