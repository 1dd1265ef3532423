# without: -
import socket
others = [name for _, name in socket.if_nameindex() if name != "lo"]
if others:
    print("breached", others)
for address in ("169.254.169.254", "10.0.0.1", "192.168.0.1", "8.8.8.8"):
    s = socket.socket()
    s.settimeout(2)
    try:
        s.connect((address, 80))
        print("breached", address)
    except OSError:
        pass
