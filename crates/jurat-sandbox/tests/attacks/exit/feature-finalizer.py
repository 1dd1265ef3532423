# without: -

def evaluate(turn, world):
    class Last:
        def __del__(self):
            open(world["target"], "w").write("changed")

    globals()["last"] = Last()
    return "honest"
