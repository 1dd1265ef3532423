# without: seccomp landlock
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000 | 0x00020000) == 0 and libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    print("breached")
