# without: files
import socket
s = socket.socket(socket.AF_UNIX)
s.connect(SOCKET)
print("breached")
