# without: names one_source
# then: another source

def evaluate(turn, world):
    import textwrap

    textwrap.dedent = lambda text: "breached"
    return 0
