# without: fork
# turns: 2

def evaluate(turn, world):
    import signal

    if turn == 2:
        return "breached" if signal.getsignal(signal.SIGUSR1) is not signal.SIG_DFL else "nothing"
    signal.signal(signal.SIGUSR1, lambda *_: None)
    return 0
