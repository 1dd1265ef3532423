# without: network
import socket
socket.create_connection(("127.0.0.1", PORT), timeout=3).sendall(b"x")
print("breached")
