# without: output
# flood: yes

def evaluate(turn, world):
    for _ in range(1 << 17):
        print("x" * 63)
