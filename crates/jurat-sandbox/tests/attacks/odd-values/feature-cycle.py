# without: -

def evaluate(turn, world):
    ring = {}
    ring["breach"] = [ring, (ring,)]
    return ring
