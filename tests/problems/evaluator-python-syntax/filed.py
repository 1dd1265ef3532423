def evaluate(output):
    for it in output:
        return it +
