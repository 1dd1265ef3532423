# without: names
# turns: 2

def evaluate(turn, world):
    import sys

    if turn == 2:
        return "breached" if getattr(sys.modules["evaluator"], "left", 0) or "left" in globals() else "nothing"
    globals()["left"] = 1
    return 0
