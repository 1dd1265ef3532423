# without: landlock

def evaluate(turn, world):
    with open("/proc/%d/cmdline" % world["victim"]) as file:
        return "breached" if file.read() else "nothing"
