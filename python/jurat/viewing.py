"""The viewer, from a program or a notebook: a run as pages in a browser."""

from __future__ import annotations

from os import PathLike
from types import TracebackType

from jurat.errors import JuratError

__all__ = ["Viewer"]


class Viewer:
    """A viewer that answers until it is stopped, or until the program ends.

    It is the command `jurat view` in a process of its own, so that looking at pages does not wait for the program. The address holds a key; only this machine is answered.

    Example:
        >>> viewer = run.view()  # doctest: +SKIP
        >>> viewer.url  # doctest: +SKIP
        'http://127.0.0.1:43321/runs/…?key=…'
    """

    url: str
    """The address of the run, with the key."""

    def __init__(self, path: str | PathLike[str], *, read_only: bool = False, annotator: str | None = None) -> None:
        """Starts a viewer.

        Args:
            path: The file of the run.
            read_only: Whether no labels are accepted.
            annotator: The person who labels; default: the name of the user.

        Raises:
            JuratError: It cannot be started.
        """
        # Imported where a viewer is started, because most programs start none.
        import atexit
        import json
        import subprocess
        import sys

        words = [sys.executable, "-m", "jurat", "view", str(path), "--port", "0", "--json"]
        words += ["--read-only"] if read_only else []
        words += [] if annotator is None else ["--as", annotator]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.stop)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            said = self._process.stderr.read().strip().removeprefix("error: ")
            self.stop()
            raise JuratError(said or "the viewer cannot be started")
        self.url = json.loads(line)["url"]

    def stop(self) -> None:
        """Stops it. Its pages are not answered any more."""
        import atexit

        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Viewer {self.url}>"

    def _repr_html_(self) -> str:
        import html

        return f'<a href="{html.escape(self.url)}" target="_blank" rel="noopener noreferrer">Open the run in the viewer</a>'
