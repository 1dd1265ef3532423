# The scorer `includes` of Inspect: the answer has one of the targets in it, by default whatever the case.
IGNORE_CASE = True


def evaluate(output, reference):
    plain = str.casefold if IGNORE_CASE else str
    targets = reference if isinstance(reference, list) else [reference]
    return "C" if any(plain(it) in plain(output or "") for it in targets) else "I"
