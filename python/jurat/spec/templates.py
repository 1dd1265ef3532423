"""Answer templates from types of Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from jurat._jurat import to_json
from jurat._schema import schema_of
from jurat.errors import UsageError
from jurat.scenario.primitives import VerificationPrimitive

__all__ = ["template"]


def template(right: Any, *, verify: Mapping[str, VerificationPrimitive] | None = None, weights: Mapping[str, float] | None = None) -> dict[str, Any]:
    """What is read from an answer, and what it must be.

    Args:
        right: An instance of a pydantic model or a dataclass: its class says what is read, and its values are what would be right. A field that is `None`
            is read and not judged. The class itself reads all fields and judges none.
        verify: How fields are compared, by their names; default: by their kinds.
        weights: The weights of fields in the partial credit; default: 1.

    Returns:
        The template as suites have it: for `template` of a question, and for `templates`.

    Raises:
        UsageError: The class has no such field, or says no fields.

    Example:
        >>> from dataclasses import dataclass
        >>> from jurat.scenario import NumericTolerance
        >>> from jurat.spec import template
        >>> @dataclass
        ... class Capital:
        ...     name: str
        ...     people: int
        >>> template(Capital("Paris", 2_100_000), verify={"people": NumericTolerance(0.1)})["fields"]["name"]
        {'type': {'type': 'string'}, 'ground_truth': 'Paris'}
    """
    kind = right if isinstance(right, type) else type(right)
    properties = schema_of(kind).get("properties", {})
    unknown = [it for it in [*(verify or {}), *(weights or {})] if it not in properties]
    if unknown:
        raise UsageError(f"`{kind.__name__}` has no field `{unknown[0]}`; its fields are {', '.join(properties)}")
    definitions = schema_of(kind).get("$defs", {})
    return {"fields": {name: _field(name, dict(it), right, verify or {}, weights or {}, definitions) for name, it in properties.items()}}


def _field(
    name: str,
    schema: dict[str, Any],
    right: Any,
    verify: Mapping[str, VerificationPrimitive],
    weights: Mapping[str, float],
    definitions: Mapping[str, Any],
) -> dict[str, Any]:
    description = schema.pop("description", None)
    for key in ("title", "default"):
        schema.pop(key, None)
    # References lead into the schema of the whole class.
    field: dict[str, Any] = {"type": {**schema, "$defs": definitions} if definitions and "$ref" in str(schema) else schema}
    if description is not None:
        field["description"] = description
    value = None if isinstance(right, type) else getattr(right, name)
    if value is not None:
        import json

        field["ground_truth"] = json.loads(to_json(dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value))
    if name in verify:
        field["verify_with"] = verify[name].stored()
    if name in weights:
        field["weight"] = weights[name]
    return field
