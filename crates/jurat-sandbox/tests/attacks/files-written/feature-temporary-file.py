# without: landlock seccomp limits

import tempfile


def evaluate(turn, world):
    with tempfile.NamedTemporaryFile(dir=world["folder"]) as file:
        file.write(b"x")
        return "breached"
