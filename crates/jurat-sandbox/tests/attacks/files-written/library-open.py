# without: landlock seccomp limits

def evaluate(turn, world):
    with open(world["target"], "w") as file:
        file.write("changed")
    return "breached"
