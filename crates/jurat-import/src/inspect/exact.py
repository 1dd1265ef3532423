

# The scorer `exact` of Inspect: the answer has the words of one of the targets, and no others.
def evaluate(output, reference):
    wanted = [normalized(it) for it in targets(reference)]
    return "C" if any(it and it == normalized(output or "") for it in wanted) else "I"
