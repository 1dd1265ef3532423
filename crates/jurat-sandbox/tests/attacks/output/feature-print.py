# without: output
# flood: yes

def evaluate(turn, world):
    for _ in range(8):
        print("x" * (1 << 20))
