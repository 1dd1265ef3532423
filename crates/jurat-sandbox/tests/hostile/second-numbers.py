# without: -
# machine: x86_64
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(0x40000000 + 39) >= 0:
    print("breached")
