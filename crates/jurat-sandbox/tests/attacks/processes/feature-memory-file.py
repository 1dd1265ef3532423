# without: landlock seccomp privileges

def evaluate(turn, world):
    with open("/proc/%d/maps" % world["victim"]) as file:
        address = int(file.readline().split("-")[0], 16)
    with open("/proc/%d/mem" % world["victim"], "rb", 0) as file:
        file.seek(address)
        return "breached" if file.read(4) == b"\x7fELF" else "nothing"
