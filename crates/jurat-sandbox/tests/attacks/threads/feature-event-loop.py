# without: names threads
# turns: 2

import asyncio
import sys


def evaluate(turn, world):
    if turn == 1:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(loop.run_in_executor(None, int))
        sys.kept = loop
        return 0
    return "breached" if hasattr(sys, "kept") else "nothing"
