# without: landlock

def evaluate(turn, world):
    return "breached" if "stack" in open("/proc/self/maps").read() else "nothing"
