# without: fork
# turns: 2

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def evaluate(turn, world):
    # The names of a class that is built in cannot be written, except below the language.
    if turn == 2:
        return "breached" if getattr(list, "poison", False) else "nothing"
    view = list.__dict__
    names = ctypes.py_object.from_address(id(view) + 16).value
    names["poison"] = True
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(list))
    return 0
