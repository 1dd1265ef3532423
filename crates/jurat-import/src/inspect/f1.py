

# The scorer `f1` of Inspect: how many words the answer and a target have in common, as the harmonic mean of precision and recall.
def score(said, target):
    left, common = target.copy(), 0
    for it in said:
        if it in left:
            left.remove(it)
            common += 1
    return 2 * common / (len(said) + len(target)) if common else 0.0


def evaluate(output, reference):
    wanted = [normalized(it).split() for it in targets(reference)]
    return {"score": round(max((score(normalized(output or "").split(), it) for it in wanted if it), default=0.0), 2)}
