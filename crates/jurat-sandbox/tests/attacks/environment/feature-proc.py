# without: environment landlock

def evaluate(turn, world):
    with open("/proc/self/environ") as file:
        return "breached" if "CARGO_MANIFEST_DIR" in file.read() else "nothing"
