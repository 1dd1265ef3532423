# without: names
# turns: 2

def evaluate(turn, world):
    import json

    if turn == 2:
        return "breached" if json.dumps(1) == "poison" else "nothing"
    json.dumps = lambda it: "poison"
    return 0
