"""Runs the code of evaluators, apart from everything: `python -I -m jurat._worker`, started by the engine alone."""

import sys

from jurat._jurat import worker

if __name__ == "__main__":
    sys.exit(worker())
