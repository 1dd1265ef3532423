"""Lists and dicts that do not change: what a validated scenario holds."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["FrozenDict", "FrozenList", "frozen"]


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("a validated scenario does not change; build another with `Scenario`")


class FrozenDict(dict[str, Any]):
    """A dict that refuses changes. It is equal to a dict with the same members, and a copy of it is one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        import copy

        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that refuses changes. It is equal to a list with the same items, and a copy of it is one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        import copy

        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


def frozen(value: Any) -> Any:
    """A value whose dicts and lists do not change, all the way down.

    >>> frozen({"keywords": ["a"]})["keywords"].append("b")
    Traceback (most recent call last):
    TypeError: a validated scenario does not change; build another with `Scenario`
    """
    if isinstance(value, dict):
        return FrozenDict({key: frozen(it) for key, it in value.items()})
    if isinstance(value, (list, tuple)):
        return FrozenList(frozen(it) for it in value)
    return value
