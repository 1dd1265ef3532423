def evaluate(output, limit=12):
    """A bare label, or one with an explanation, would both do."""
    n_words = len(output.split())
    return {"label": "brief" if n_words <= limit else "long", "explanation": f"{n_words} words"}
