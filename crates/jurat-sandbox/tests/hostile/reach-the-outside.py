# without: -
import socket
for address in (("8.8.8.8", 53), ("1.1.1.1", 443), ("169.254.169.254", 80)):
    try:
        socket.create_connection(address, timeout=1)
        print("breached", address)
    except OSError:
        pass
