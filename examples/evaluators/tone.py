"""Looks for words that make a reply polite or warm."""

import re
from typing import Any

POLITE = re.compile(r"\b(please|thank you|thanks|sorry|glad|happy to)\b", re.IGNORECASE)
WARM = re.compile(r"\b(sorry|glad|happy|hope|welcome)\b", re.IGNORECASE)


def evaluate(output: str) -> dict[str, Any]:
    found = [it.lower() for it in POLITE.findall(output)]
    return {
        "politeness": "polite" if found else "curt",
        "warmth": min(1.0, len(WARM.findall(output)) / 2),
        "explanation": f"says {', '.join(found)}" if found else "says nothing polite",
    }
