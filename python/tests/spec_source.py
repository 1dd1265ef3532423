"""The generated modules of `jurat.spec`, made from the JSON Schema of suites. `JURAT_BLESS=1` writes them."""

from __future__ import annotations

import functools
import json
import keyword
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from jurat import _jurat

Schema = dict[str, Any]

HEAD = '"""{about}"""\n\n# Made from the JSON Schema of suites by python/tests/spec_source.py: do not edit.\n\nfrom __future__ import annotations\n\n'


@functools.cache
def schema() -> Schema:
    """The JSON Schema of suites."""
    shown = subprocess.run([sys.executable, "-m", "jurat", "schema"], capture_output=True, text=True, check=True)
    found: Schema = json.loads(shown.stdout)
    return found


def compare_module() -> str:
    """A function for each operator."""
    names = next(it["anyOf"] for it in schema()["$defs"]["any_operator"]["anyOf"] if "anyOf" in it)
    meanings = {name: it["description"] for it in names for name in it["enum"]}
    operators = [(name, takes, meanings[name]) for _, name, takes in _jurat.operators()]
    listed = "\n".join(f'    "{name}",' for name in sorted(["Comparison", "by", *(it for it, _, _ in operators)]))
    head = HEAD.format(about="Comparisons: what a value must be. `docs/reference/comparisons.md` says exactly what passes.")
    head += "from typing import Any\n\nfrom jurat.spec.comparison import Comparison, by\n\n"
    return f"{head}__all__ = [\n{listed}\n]\n" + "".join(_comparison(*it) for it in operators)


def _comparison(name: str, takes_operand: bool, meaning: str) -> str:
    parameters, operand = ("expected: Any", ", expected") if takes_operand else ("", "")
    if name == "exists":
        parameters, operand = "expected: bool = True", ", expected"
    first = f"Passes if {meaning}." if not meaning.startswith("whether") else f"{meaning.capitalize()}."
    body = _wrapped(first)
    if parameters:
        what = "Whether it must exist." if name == "exists" else "What the value is compared with; a text that is only `${path}` is what the evidence has at that path."
        body += f"\n\n    Args:\n{_argument('expected', what)}\n    "
    return f'\n\ndef {name}({parameters}) -> Comparison:\n    """{body}"""\n    return Comparison("{name}"{operand})\n'


def check_module() -> str:
    """A function for each kind of check."""
    kinds = [it for name, it in schema()["$defs"].items() if name.startswith("check_")]
    names = [it["properties"]["kind"]["enum"][0] for it in kinds]
    listed = "\n".join(f'    "{name}",' for name in sorted(names))
    head = HEAD.format(about="Kinds of checks of an agent's run. `docs/reference/checks.md` says exactly what passes.")
    head += "from collections.abc import Mapping, Sequence\nfrom typing import Any, Literal\n\n"
    head += "from jurat.spec.comparison import Comparison\nfrom jurat._part import members\n\n"
    return f"{head}__all__ = [\n{listed}\n]\n" + "".join(map(_check, kinds))


def _check(kind: Schema) -> str:
    properties = dict(kind["properties"])
    named = properties.pop("kind")
    name = named["enum"][0]
    required = [it for it in kind["required"] if it != "kind"]
    parameters = list(_parameters(properties, required))
    needed = [it for it in parameters if it[0] in required]
    others = [it for it in parameters if it[0] not in required]
    signature = [f"{_python(key)}: {_kind(it)}" for key, it in needed]
    if others:
        signature += ["*", *(f"{_python(key)}: {_kind(it)} | None = None" for key, it in others)]
    given = ", ".join([f'"{name}"', *(f"{_python(key)}={_python(key)}" for key, _ in [*needed, *others])])
    body = _wrapped(f"{named['description'][0].upper()}{named['description'][1:]}.")
    if parameters:
        body += "\n\n    Args:\n" + "\n".join(_argument(_python(key), _sentence(it)) for key, it in [*needed, *others]) + "\n    "
    lines = f"\n\ndef {name}({', '.join(signature)}) -> dict[str, Any]:"
    if len(lines) > 132:
        lines = f"\n\ndef {name}(\n" + "".join(f"    {it},\n" for it in signature) + ") -> dict[str, Any]:"
    return f'{lines}\n    """{body}"""\n    return members({given})\n'




def _parameters(properties: Schema, required: list[str]) -> Iterator[tuple[str, Schema]]:
    """The keys of an object, without other names for the same."""
    seen: set[str] = set()
    for key, written in properties.items():
        it = _resolved(written)
        about = it.get("description", "")
        if (about and about in seen and key not in required) or key == "expected_value":
            continue
        seen.add(about)
        if key == "operator":
            yield "comparison", {"x-kind": "Comparison", "description": "what the value must be"}
        else:
            yield key, it


#: The objects of suites that are classes, by their names in the schema: the class, what it is, and what it needs.
CLASSES: dict[str, tuple[str, str, list[str]]] = {
    "bound": ("Bound", "What a number must be, where a number alone means at least.", []),
    "model": ("Model", "A model and its settings, for `models`.", ["model"]),
    "threshold_of_a_task": ("TaskThresholds", "What a task must reach, for `tasks` of `Thresholds`.", []),
    "thresholds": ("Thresholds", "What a run must reach to pass.", []),
    "limits_of_an_agent": ("AgentLimits", "What a run of an agent may use.", []),
    "agent": ("Agent", "A program that is given tasks, for `agents`.", []),
    "case": ("AgentCase", "A task for an agent, for `cases`.", ["id"]),
    "ask": ("Ask", "What a model is asked about each row.", []),
}


def sections_module() -> str:
    """A class for each section of suites that is an object."""
    found = schema()["$defs"]
    listed = "\n".join(f'    "{name}",' for name in sorted(it for it, *_ in CLASSES.values()))
    head = HEAD.format(about="The sections of a suite that are objects, as classes.")
    head += "from collections.abc import Mapping, Sequence\nfrom dataclasses import dataclass\nfrom typing import Any, Literal\n\nfrom jurat._part import Part\n\n"
    return f"{head}__all__ = [\n{listed}\n]\n" + "".join(_class(name, about, found[key], required) for key, (name, about, required) in CLASSES.items())


def _class(name: str, about: str, of: Schema, required: list[str]) -> str:
    keys = list(_parameters(of["properties"], required))
    documented = "\n".join(_argument(_python(key), _sentence(it)) for key, it in keys)
    ordered = sorted(keys, key=lambda it: it[0] not in required)
    lines = [f"    {_python(key)}: {_kind(it)}" + ("" if key in required else " | None = None") for key, it in ordered]
    first = _wrapped(about)
    return f'\n\n@dataclass(frozen=True, kw_only=True)\nclass {name}(Part):\n    """{first}\n\n    Args:\n{documented}\n    """\n\n' + "\n".join(lines) + "\n"


_KINDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "Mapping[str, Any]", "array": "Sequence[Any]"}


def _kind(of: Schema) -> str:
    """The type of a value in Python."""
    if "x-kind" in of:
        return str(of["x-kind"])
    if "$ref" in of:
        return _named(of["$ref"].rpartition("/")[2])
    if "enum" in of or "const" in of:
        return f"Literal[{', '.join(json.dumps(it) for it in of.get('enum', [of.get('const')]))}]"
    if "anyOf" in of:
        return " | ".join(dict.fromkeys(_kind(it) for it in of["anyOf"] if it.get("type") != "null"))
    kind = of.get("type")
    if isinstance(kind, list):
        return " | ".join(_kind({**of, "type": it}) for it in kind if it != "null")
    if kind == "array":
        return f"Sequence[{_kind(of.get('items', {}))}]"
    if kind == "object" and "additionalProperties" in of and isinstance(of["additionalProperties"], dict) and of["additionalProperties"]:
        return f"Mapping[str, {_kind(of['additionalProperties'])}]"
    return _KINDS.get(str(kind), "Any")


def _named(name: str) -> str:
    """The type of an object that the schema has under a name. Whether a text is a path is for the suite to say."""
    if name in CLASSES:
        return f"{CLASSES[name][0]} | Mapping[str, Any]"
    return {"field_path": "str", "any_operator": "Any"}.get(name, "Mapping[str, Any]")


def _resolved(of: Schema) -> Schema:
    """A key that is written where another object has it."""
    place = of.get("$ref", "").removeprefix("#/").split("/")
    if len(place) <= 2:
        return of
    return _resolved(functools.reduce(lambda at, step: at[step], place, schema()))


def _python(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


def _sentence(of: Schema) -> str:
    about = str(of.get("description", "")).rstrip(".")
    default = of.get("default")
    said = f"; default: {json.dumps(default)}" if default is not None and "default:" not in about else ""
    return f"{about[:1].upper()}{about[1:]}{said}."


def _argument(name: str, about: str) -> str:
    return textwrap.fill(f"{name}: {about}", 140, initial_indent=" " * 8, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 140, initial_indent="", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


MODULES = {"compare.py": compare_module, "check.py": check_module, "sections.py": sections_module}
