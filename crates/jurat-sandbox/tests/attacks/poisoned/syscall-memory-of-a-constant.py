# without: fork
# turns: 2

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def asked(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def evaluate(turn, world):
    # The number one, for everybody.
    if turn == 2:
        return "breached" if bytes(world["folder"], "ascii") and (100 + 100 == 201 or int("100") + 100 != 200) else "nothing"
    ctypes.c_int32.from_address(id(100) + (24 if ctypes.c_int32.from_address(id(100) + 24).value == 100 else 16)).value = 101
    return 0
