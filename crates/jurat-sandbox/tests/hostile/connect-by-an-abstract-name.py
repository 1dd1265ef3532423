# without: network landlock
import socket
s = socket.socket(socket.AF_UNIX)
s.connect("\0" + ABSTRACT)
print("breached")
