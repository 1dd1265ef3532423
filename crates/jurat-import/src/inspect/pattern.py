# The scorer `pattern` of Inspect: what a group of the pattern finds in the answer is one of the targets.
import re

PATTERN = ""
IGNORE_CASE = True
MATCH_ALL = False


def evaluate(output, reference):
    targets = reference if isinstance(reference, list) else [reference]
    found = re.search(PATTERN, output or "", re.IGNORECASE if IGNORE_CASE else 0)
    groups = [it for it in (found.groups() or (found.group(),)) if it is not None] if found else []
    plain = str.lower if IGNORE_CASE else str
    hits = [plain(it) in [plain(target) for target in targets] for it in groups]
    return "C" if hits and (all(hits) if MATCH_ALL else any(hits)) else "I"
