# without: names
# turns: 2

count = 0


def evaluate(turn, world):
    global count
    count += 1
    return "breached" if count == 2 else "nothing"
