# without: seccomp landlock limits

import subprocess


def evaluate(turn, world):
    return "breached" if subprocess.run(["/bin/echo", "x"], capture_output=True).stdout == b"x\n" else "nothing"
