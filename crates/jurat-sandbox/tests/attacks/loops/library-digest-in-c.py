# without: deadline

import hashlib
import time


def evaluate(turn, world):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 400_000)
    return "breached"
