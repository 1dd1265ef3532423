# without: seccomp
# machine: x86_64
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(323, 1) >= 0:
    print("breached")
