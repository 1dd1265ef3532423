# without: -

import collections
import enum


class Colour(enum.IntEnum):
    RED = 1


def evaluate(turn, world):
    Point = collections.namedtuple("Point", "x y")
    return collections.OrderedDict(point=Point(Colour.RED, collections.Counter("abca")), view=memoryview(b"abc"))
