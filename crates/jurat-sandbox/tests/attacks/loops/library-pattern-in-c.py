# without: deadline

def evaluate(turn, world):
    import re

    for _ in range(3000):
        re.match(r"(a+)+$", "a" * 18 + "b")
    return "breached"
