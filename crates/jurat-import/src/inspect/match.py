# The scorer `match` of Inspect: by default the answer ends with one of the targets, without regard to case, and to spaces and
# punctuation around both.
import string

LOCATION = "end"
IGNORE_CASE = True

COMPARED = {
    "begin": str.startswith,
    "end": str.endswith,
    "any": lambda said, target: target in said,
    "exact": lambda said, target: said == target,
}


def plain(text):
    text = text.strip()
    return (text.casefold() if IGNORE_CASE else text).strip(string.whitespace + string.punctuation)


def evaluate(output, reference):
    targets = reference if isinstance(reference, list) else [reference]
    return "C" if any(COMPARED[LOCATION](plain(output or ""), plain(it)) for it in targets) else "I"
