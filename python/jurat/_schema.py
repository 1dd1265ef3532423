"""JSON Schemas of types: pydantic models, dataclasses, typed dicts, and schemas as they are."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping
from typing import Any

from jurat.errors import UsageError

__all__ = ["instance_of", "schema_of"]

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    dict: {"type": "object"},
    list: {"type": "array"},
}


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type.

    >>> from dataclasses import make_dataclass
    >>> tone = make_dataclass("Tone", [("label", typing.Literal["polite", "rude"]), ("score", float)])
    >>> schema_of(tone)["properties"]
    {'label': {'enum': ['polite', 'rude']}, 'score': {'type': 'number'}}
    """
    if isinstance(kind, Mapping):
        return dict(kind)
    if hasattr(kind, "model_json_schema"):
        schema: dict[str, Any] = kind.model_json_schema()
        return schema
    return _schema(kind)


def instance_of(kind: Any, value: Any) -> Any:
    """A value of a type, out of what a model answered."""
    if kind is None or isinstance(kind, Mapping):
        return value
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
        hints = typing.get_type_hints(kind)
        known = {it.name for it in dataclasses.fields(kind)}
        return kind(**{key: instance_of(hints[key], it) for key, it in value.items() if key in known})
    origin = typing.get_origin(kind)
    if origin is list and isinstance(value, list):
        (item,) = typing.get_args(kind) or (None,)
        return [instance_of(item, it) for it in value]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    return value


def _schema(kind: Any) -> dict[str, Any]:
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (list, set, tuple) and arguments:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is dict and len(arguments) == 2:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(it) for it in arguments]}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [it.value for it in kind]}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        missing = dataclasses.MISSING
        required = [
            it.name for it in dataclasses.fields(kind) if it.default is missing and it.default_factory is missing
        ]
        return _object(typing.get_type_hints(kind), required)
    if typing.is_typeddict(kind):
        return _object(typing.get_type_hints(kind), sorted(getattr(kind, "__required_keys__", ())))
    raise UsageError(
        f"`{getattr(kind, '__name__', kind)}` says no fields; give a pydantic model, a dataclass, a typed dict or a JSON Schema"
    )


def _object(fields: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    properties = {name: schema_of(kind) for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
