# without: seccomp
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
pid = libc.syscall(435, arguments, 64)
if pid == 0:
    os._exit(0)
if pid > 0:
    print("breached")
