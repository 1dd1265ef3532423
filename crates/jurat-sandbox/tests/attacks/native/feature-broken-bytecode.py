# without: process

def evaluate(turn, world):
    import types

    # It takes off the stack what was never put there.
    def broken():
        pass

    types.FunctionType(broken.__code__.replace(co_code=b"\x01\x00" * 4000 + b"\x53\x00"), {})()
    return "honest"
