"""Waiting for runs: with progress, with Ctrl-C, in threads and in event loops."""

from __future__ import annotations

from typing import Any

from jurat import _jurat
from jurat._progress import Progress, shown

#: How long the engine is left alone before Python looks at signals and at how far it is.
_TICK = 0.1


def finished(running: _jurat.Running, *, progress: bool | None) -> _jurat.Run:
    """Waits for the end. Ctrl-C lets what is in flight finish, a second one drops it; then `KeyboardInterrupt` goes on."""
    interrupted: KeyboardInterrupt | None = None
    with shown(progress) as bar:
        while True:
            try:
                run = running.wait_for(_TICK)
                if run is not None:
                    break
                bar.update(_figures(running))
            except KeyboardInterrupt as interrupt:
                interrupted = interrupt
                running.stop()
        bar.update(_figures(running))
    if interrupted is not None:
        raise interrupted
    return run


async def awaited(running: _jurat.Running, *, progress: bool | None) -> _jurat.Run:
    """The same in an event loop, which goes on meanwhile. A task that is cancelled stops the run."""
    import asyncio

    with shown(progress) as bar:
        try:
            while (run := await asyncio.to_thread(running.wait_for, _TICK)) is None:
                bar.update(_figures(running))
        except asyncio.CancelledError:
            running.stop()
            raise
        bar.update(_figures(running))
    return run


def _figures(running: _jurat.Running) -> Progress:
    figures: dict[str, Any] = running.progress()
    return Progress(**figures)
