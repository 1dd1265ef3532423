"""How a suite is run: the options of `jurat run`, as keywords."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack
else:

    class Unpack:
        """What annotations say where Python has no such thing yet."""

        def __class_getitem__(cls, options: Any) -> Any:
            return options


__all__ = ["RunOptions", "Unpack"]


class RunOptions(TypedDict, total=False):
    """How a suite is run: the options of `jurat run`. Times are seconds."""

    directory: str | PathLike[str] | None
    models: Mapping[str, str]
    variables: Mapping[str, str]
    limit: int | None
    filter: str | None
    tags: Sequence[str]
    repeat: int | None
    concurrency: int | None
    budget_usd: float | None
    budget_tokens: int | None
    budget_calls: int | None
    timeout: float | None
    request_timeout: float | None
    batch: bool
    batch_poll: float | None
    fail_fast: bool
    gate: bool
    stop_when: str | None
    base: str | None
    seed: int | None
    resume_decided: bool
    keep_going: bool
    rerun: str | Sequence[str]
    rerun_from: str | None
    fresh: bool
    max_age: float | None
    shared_journal: str | None
    replay: str | PathLike[str] | None
    stream: bool
    keep_all: bool
    durable: bool
    unsafe_code: bool
    unsafe_host: bool
