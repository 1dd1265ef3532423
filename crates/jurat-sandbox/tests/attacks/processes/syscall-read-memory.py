# without: landlock seccomp privileges

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    class Piece(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    own = ctypes.create_string_buffer(8)
    local = Piece(ctypes.addressof(own), 8)
    with open("/proc/%d/maps" % world["victim"]) as file:
        address = int(file.readline().split("-")[0], 16)
    remote = Piece(address, 8)
    asked(310 if os.uname().machine == "x86_64" else 270, world["victim"], ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return "breached" if own.raw.startswith(b"\x7fELF") else "nothing"
