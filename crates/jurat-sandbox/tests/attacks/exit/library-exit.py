# without: process

def evaluate(turn, world):
    import atexit

    atexit.register(lambda: open(world["target"], "w").write("changed"))
    raise SystemExit(0)
