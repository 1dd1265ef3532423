# without: -

class Mute(Exception):
    def __str__(self):
        return chr(0xD800) * 20_000


def evaluate(turn, world):
    raise Mute
