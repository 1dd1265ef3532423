"""Waiting for runs: with progress, with Ctrl-C, in threads and in event loops."""

from __future__ import annotations

from jurat import _jurat
from jurat._progress import shown

#: How long the engine is left alone before Python looks at signals and at how far it is.
_TICK = 0.1


def finished(running: _jurat.Running, *, progress: bool | None, total: int | None = None) -> _jurat.Run:
    """Waits for the end. Ctrl-C lets what is in flight finish, a second one drops it; then `KeyboardInterrupt` is raised.

    `total` is how many cases there are, where that is known before all rows were read.
    """
    interrupted: KeyboardInterrupt | None = None
    with shown(progress) as bar:
        while True:
            try:
                run = running.wait_for(_TICK)
                if run is not None:
                    break
                bar.update(running, total)
            except KeyboardInterrupt as interrupt:
                interrupted = interrupt
                running.stop()
        bar.update(running, total)
    if interrupted is not None:
        raise interrupted
    return run


async def awaited(running: _jurat.Running, *, progress: bool | None, total: int | None = None) -> _jurat.Run:
    """The same in an event loop, which is not blocked. A task that is cancelled stops the run."""
    import asyncio

    with shown(progress) as bar:
        try:
            while (run := await asyncio.to_thread(running.wait_for, _TICK)) is None:
                bar.update(running, total)
        except asyncio.CancelledError:
            running.stop()
            raise
        bar.update(running, total)
    return run
