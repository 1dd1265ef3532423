"""The command `jurat`, also as `python -m jurat`."""

from __future__ import annotations

import sys

from jurat._jurat import main


def command() -> int:
    """Runs the command with the arguments of the process, and returns its exit code."""
    return main(["jurat", *sys.argv[1:]], sys.executable or None)


if __name__ == "__main__":
    sys.exit(command())
