# without: landlock

import glob


def evaluate(turn, world):
    return "breached" if glob.glob(world["folder"] + "/*.txt") else "nothing"
