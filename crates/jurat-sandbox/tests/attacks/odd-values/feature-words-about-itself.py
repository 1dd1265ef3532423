# without: -

class Shy:
    def __repr__(self):
        raise SystemExit("breached")


def evaluate(turn, world):
    return Shy()
