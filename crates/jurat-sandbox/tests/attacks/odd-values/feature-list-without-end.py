# without: -

class Without(list):
    def __iter__(self):
        while True:
            yield "breached"

    def __len__(self):
        return -1


def evaluate(turn, world):
    return Without([1])
