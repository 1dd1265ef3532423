"""What happens in runs, under the name `jurat` of Python's own `logging`.

A run that ended is `INFO`, and so is what is to be known before its first case: that it resumes another, or that a damaged journal was set aside. A request that
failed and was made again, or has no answer, is `DEBUG`: the run has it as well.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

    from jurat import _jurat

__all__ = ["log_end", "log_notes"]


def log_notes(running: _jurat.Running) -> None:
    """Logs what happened since this was called last."""
    logger = _logger()
    if logger is None:
        return
    of_run, of_requests = running.take_notes()
    for note in of_run:
        logger.info("%s", note)
    for note in of_requests:
        logger.debug("%s", note)


def log_end(run: _jurat.Run) -> None:
    """Logs that a run is over, and what is concluded."""
    logger = _logger()
    if logger is not None and logger.isEnabledFor(20):
        cases = run.summary()["cases"]
        logger.info("run %s ended with %d cases: %s", run.id, cases["total"], run.conclusion)


def _logger() -> logging.Logger | None:
    """The logger. A program that did not load `logging` configured none, and loading it takes longer than a short run."""
    module = sys.modules.get("logging")
    if module is None:
        return None
    logger: logging.Logger = module.getLogger("jurat")
    return logger
