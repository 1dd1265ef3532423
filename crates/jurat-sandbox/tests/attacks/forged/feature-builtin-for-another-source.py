# without: one_source names
# then: another source

def evaluate(turn, world):
    import builtins

    builtins.sorted = lambda values: ["breached"]
    return 0
