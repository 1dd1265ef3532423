"""Waiting for runs: with progress, with Ctrl-C, in threads and in event loops."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from jurat import _jurat
from jurat._logged import log_end, log_notes
from jurat._progress import shown

if TYPE_CHECKING:
    import asyncio

#: How long the engine is left alone before Python looks at signals and at how far it is.
_TICK = 0.1

#: The same where nothing is looked at meanwhile.
_LONG = 3600.0


def finished(running: _jurat.Running, *, progress: bool | None, total: int | None = None) -> _jurat.Run:
    """Waits for the end. Ctrl-C lets what is in flight finish, a second one drops it; then `KeyboardInterrupt` is raised.

    `total` is how many cases there are, where that is known before all rows were read.
    """
    interrupted: KeyboardInterrupt | None = None
    with shown(progress) as bar:
        while True:
            try:
                run = running.wait_for(_TICK)
                log_notes(running)
                if run is not None:
                    break
                bar.update(running, total)
            except KeyboardInterrupt as interrupt:
                interrupted = interrupt
                running.stop()
        bar.update(running, total)
    if interrupted is not None:
        raise interrupted
    log_end(run)
    return run


async def awaited(running: _jurat.Running, *, progress: bool | None, total: int | None = None) -> _jurat.Run:
    """The same in an event loop, which is not blocked. A task that is cancelled stops the run."""
    import asyncio

    over = _over(running, asyncio.get_running_loop())
    with shown(progress) as bar:
        try:
            while not over.done():
                await asyncio.wait([over], timeout=_TICK)
                log_notes(running)
                bar.update(running, total)
        except asyncio.CancelledError:
            running.stop()
            raise
    run = over.result()
    log_end(run)
    return run


def _over(running: _jurat.Running, loop: asyncio.AbstractEventLoop) -> asyncio.Future[_jurat.Run]:
    """The end of a run, as a future of a loop. A thread of its own waits: those of the loop's executor are the caller's."""
    import threading

    over: asyncio.Future[_jurat.Run] = loop.create_future()

    def settle(run: _jurat.Run | None, error: BaseException | None) -> None:
        if over.done():
            return
        if run is None:
            over.set_exception(error or RuntimeError("the run ended without a result"))
        else:
            over.set_result(run)

    def wait() -> None:
        run, error = None, None
        try:
            while run is None:
                run = running.wait_for(_LONG)
        except BaseException as raised:
            error = raised
        # A loop that is closed has nothing that waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, run, error)

    threading.Thread(target=wait, name="jurat-wait", daemon=True).start()
    return over
