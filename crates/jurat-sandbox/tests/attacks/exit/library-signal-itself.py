# without: process

def evaluate(turn, world):
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)
    return "honest"
