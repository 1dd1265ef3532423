# without: fork
# turns: 2

def evaluate(turn, world):
    import gc

    if turn == 2:
        return "breached" if getattr(dict, "poison", False) else "nothing"
    gc.get_referents(dict.__dict__)[0]["poison"] = True
    return 0
