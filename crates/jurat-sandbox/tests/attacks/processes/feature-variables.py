# without: landlock seccomp privileges

def evaluate(turn, world):
    with open("/proc/%d/environ" % world["victim"], "rb") as file:
        return "breached" if file.read() else "nothing"
