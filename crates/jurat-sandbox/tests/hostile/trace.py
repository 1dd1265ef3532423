# without: seccomp
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
hold, release = os.pipe()
child = os.fork()
if child == 0:
    os.read(hold, 1)
    os._exit(0)
if libc.ptrace(16, child, None, None) == 0:
    print("breached")
os.kill(child, 9)
