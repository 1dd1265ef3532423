# without: environment

def evaluate(turn, world):
    # Any class of a module knows the names of its module.
    import os

    for kind in object.__subclasses__():
        names = getattr(kind.__init__, "__globals__", {})
        if "CARGO_MANIFEST_DIR" in names.get("environ", ()):
            return "breached"
    return "nothing"
