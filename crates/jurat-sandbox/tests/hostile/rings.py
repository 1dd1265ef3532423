# without: seccomp
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0:
    print("breached")
