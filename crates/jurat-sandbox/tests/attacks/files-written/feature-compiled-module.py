# without: landlock seccomp limits

import os


def evaluate(turn, world):
    import py_compile

    py_compile.compile(os.path.join(world["folder"], "secret_module.py"), os.path.join(world["folder"], "out.pyc"), doraise=True)
    os.unlink(os.path.join(world["folder"], "out.pyc"))
    return "breached"
