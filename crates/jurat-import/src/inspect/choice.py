# The scorer `choice` of Inspect: the letters behind the last `ANSWER:` are those of the target.
import re


def letters(text):
    return sorted(set(re.findall(r"\b[A-Za-z]\b", text.upper())))


def evaluate(output, reference):
    targets = reference if isinstance(reference, list) else [reference]
    wanted = sorted({it for target in targets for it in target.upper() if it.isalpha()})
    said = re.split(r"(?i)answer\s*:", output or "")
    line = said[-1].strip().split("\n")[0] if len(said) > 1 else ""
    return "C" if letters(line) == wanted else "I"
