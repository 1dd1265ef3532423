# without: -
import os, socket
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
os.symlink("/proc/self/fd/0", "input")
os.symlink("loop", "loop")
os.symlink("/dev/zero", "zero")
os.chmod(os.open(".", 0), 0)
print("left")
