# without: deadline

def evaluate(turn, world):
    import hashlib

    for _ in range(40):
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 400_000)
    return "breached"
