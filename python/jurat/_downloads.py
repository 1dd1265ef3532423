"""Files of rows at an address, downloaded into the user's cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from jurat.errors import UsageError

__all__ = ["downloaded", "is_address"]

_AT_ONCE = 1 << 20
#: Seconds without a byte after which a server counts as gone.
_TIMEOUT = 60.0


def is_address(path: str) -> bool:
    """Whether it is a URL, not a path: `C:\\rows.jsonl` and `rows://` without a scheme are paths."""
    scheme, sign, rest = path.partition("://")
    return bool(sign and rest) and scheme.replace("+", "").isalnum()


def downloaded(address: str) -> str:
    """The path of a file with what is at an address.

    The name of the file has the digest of its content. So an interrupted run over the same rows is resumed, and a run over other rows
    does not change what an earlier one refers to.

    Raises:
        UsageError: There is nothing at the address, or nothing here reads addresses of its kind.
    """
    parts = urlsplit(address)
    if parts.scheme == "file":
        return url2pathname(parts.path)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jurat" / "downloads"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = PurePosixPath(parts.path).name
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as file:
        try:
            with _reading(address) as source:
                while part := source.read(_AT_ONCE):
                    digest.update(part)
                    file.write(part)
            file.close()
            path = folder / f"{digest.hexdigest()[:16]}-{name}"
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    return str(path)


@contextmanager
def _reading(address: str) -> Iterator[Any]:
    """What is at an address, as a file, with failures in words."""
    parts = urlsplit(address)
    # Signed addresses have secrets in their query, others in front of the host.
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    try:
        with _opened(address, parts.scheme, shown) as source:
            yield source
    except urllib.error.HTTPError as error:
        raise UsageError(f"rows cannot be read from `{shown}`: the server returned {error.code} {error.reason}") from None
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        raise UsageError(f"rows cannot be read from `{shown}`: {reason}") from None


def _opened(address: str, scheme: str, shown: str) -> Any:
    if scheme in ("http", "https"):
        return urllib.request.urlopen(address, timeout=_TIMEOUT)
    try:
        import fsspec
    except ImportError:
        raise UsageError(
            f"rows at `{shown}` are read with fsspec, which is not installed: `pip install fsspec` and its driver for `{scheme}`,"
            f" or give what reads them, for example `polars.scan_parquet(…)`"
        ) from None
    try:
        return fsspec.open(address, "rb").open()
    except (ImportError, ValueError) as error:
        raise UsageError(f"rows cannot be read from `{shown}`: {error}") from None
