# without: -

class Smooth(Exception):
    @property
    def __traceback__(self):
        raise KeyboardInterrupt

    @property
    def __cause__(self):
        return self


def evaluate(turn, world):
    raise Smooth("gone")
