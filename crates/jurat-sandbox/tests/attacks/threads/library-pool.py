# without: names threads
# turns: 2

def evaluate(turn, world):
    import concurrent.futures
    import sys

    if turn == 1:
        sys.kept = concurrent.futures.ThreadPoolExecutor(2)
        sys.kept.submit(int).result()
        return 0
    return "breached" if hasattr(sys, "kept") else "nothing"
