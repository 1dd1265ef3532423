"""Parts of suites: objects of Python as the members that files have."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

__all__ = ["Part", "members", "plain"]


class Part:
    """A part of a suite. Its fields are the keys that files have; those that are `None` are left out."""

    #: Whether its keys stand among those of what it is part of.
    is_inline: ClassVar[bool] = False

    def definition(self) -> dict[str, Any]:
        """The part as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        return members(None, **{it.name: getattr(self, it.name) for it in fields(self)}) if is_dataclass(self) else {}


def members(kind: str | None, **given: Any) -> dict[str, Any]:
    """The members of an object, without those that are `None`. A comparison becomes its keys, and a name that Python reserves loses its underscore."""
    written: dict[str, Any] = {} if kind is None else {"kind": kind}
    for name, value in given.items():
        if isinstance(value, Part) and value.is_inline:
            written |= value.definition()
        elif value is not None:
            written[name[:-1] if keyword.iskeyword(name[:-1]) else name] = plain(value)
    return written


def plain(value: Any) -> Any:
    """A value in which every part is as files have it."""
    if isinstance(value, Part):
        return value.definition()
    if isinstance(value, Mapping):
        return {key: plain(it) for key, it in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(it) for it in value]
    return value
