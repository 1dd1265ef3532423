# without: -

class Liar:
    @property
    def __class__(self):
        return dict


def evaluate(turn, world):
    return Liar()
