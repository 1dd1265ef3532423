# without: environment landlock

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def asked(*arguments):
    # Numbers are as wide as registers, or the kernel sees what happened to be beside them.
    result = libc.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    opened = asked(257 if os.uname().machine == "x86_64" else 56, -100, b"/proc/self/environ", 0, 0)
    found = b""
    while part := os.read(opened, 65536):
        found += part
    return "breached" if b"CARGO_MANIFEST_DIR" in found else "nothing"
