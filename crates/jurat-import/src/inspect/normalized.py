# Words are compared as for SQuAD: without case, articles and punctuation, and numbers by their value.
import math
import re
import string

STOP_WORDS = []


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def word(text):
    text = text.casefold()
    if not is_number(text):
        inner = text.strip(string.whitespace + string.punctuation)
        text = inner if is_number(inner) else "".join(it for it in text if it not in string.punctuation)
    if is_number(text):
        text = str(float(text))
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text).split())


def normalized(text):
    left_out = {word(it) for it in STOP_WORDS}
    words = [word(it) for it in re.split("[ -]", text)]
    return " ".join(it for it in words if it and it not in left_out)


def targets(reference):
    return reference if isinstance(reference, list) else [reference]
