"""The part of `docs/reference/python.md` that is made from docstrings. `JURAT_BLESS=1` writes it."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

#: The modules that are listed: those of the native face, in reading order.
MODULES = ["jurat", "jurat.calibration", "jurat.comparison", "jurat.gates", "jurat.batches", "jurat.coordinator", "jurat.ray", "jurat.spark", "jurat.daft", "jurat.dask", "jurat.spec", "jurat.subject", "jurat.spec.compare", "jurat.spec.check"]

START = "<!-- from docstrings -->\n"
END = "<!-- end of docstrings -->"


def made() -> str:
    """The whole part."""
    return "\n".join(it for name in MODULES for it in _module(name)).rstrip() + "\n\n"


def names(module: str) -> Iterator[tuple[str, Any]]:
    """What a module has to offer: classes and functions, in order."""
    found = importlib.import_module(module)
    for name in found.__all__:
        it = getattr(found, name)
        if inspect.isclass(it) or inspect.isfunction(it):
            yield name, it


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, in the order of their definition."""
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("jurat"):
            for name, it in vars(base).items():
                if not name.startswith("_") and (inspect.isfunction(it) or isinstance(it, (property, classmethod))):
                    yield name, it


def _module(name: str) -> Iterator[str]:
    yield f"## Every name of `{name}`\n"
    for own, it in names(name):
        yield f"### `{own}`\n"
        if name.endswith((".compare", ".check")):
            yield f"`{_signature(own, it)}`: {_summary(it)}\n"
            yield from _arguments(it)
        else:
            yield f"```text\n{_signature(own, it)}\n```\n"
            yield f"{_summary(it)}\n"
            yield from _arguments(it)
            yield from _sections(it)
        if inspect.isclass(it):
            yield from _members(it)


def _members(kind: type) -> Iterator[str]:
    found = list(dict(members(kind)).items())
    if not found:
        return
    yield "| member | is |\n|---|---|"
    for name, it in found:
        function = it.fget if isinstance(it, property) else it.__func__ if isinstance(it, classmethod) else it
        shown = name if isinstance(it, property) else _signature(name, function)
        yield f"| `{_cell(shown)}` | {_cell(_summary(function))} |"
    yield ""


def _signature(name: str, of: Any) -> str:
    try:
        signature = inspect.signature(of)
    except (TypeError, ValueError):
        return name
    parameters = [it.replace(annotation=it.empty) for it in signature.parameters.values() if it.name not in ("self", "cls")]
    shown = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    returned = signature.return_annotation
    said = "" if inspect.isclass(of) or returned is signature.empty else f" -> {returned}"
    return re.sub(r"<object object at 0x[0-9a-f]+>", "…", f"{name}{shown}{said}")


def _summary(of: Any) -> str:
    return " ".join(paragraphs(of)[0].split()) if inspect.getdoc(of) else ""


def paragraphs(of: Any) -> list[str]:
    """A docstring by its paragraphs."""
    return (inspect.getdoc(of) or "").split("\n\n")


def sections(of: Any) -> dict[str, str]:
    """The sections of a docstring, such as `Args`."""
    found = re.split(r"^(Args|Attributes|Returns|Raises|Example):\n", inspect.getdoc(of) or "", flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def _arguments(of: Any) -> Iterator[str]:
    for title in ("Args", "Attributes"):
        entries = re.findall(r"^    (\**\w+): (.*?)(?=^    \S|\Z)", sections(of).get(title, ""), re.MULTILINE | re.DOTALL)
        if entries:
            yield "| argument | meaning |\n|---|---|" if title == "Args" else "| attribute | meaning |\n|---|---|"
            yield from (f"| `{name}` | {_cell(' '.join(text.split()))} |" for name, text in entries)
            yield ""


def _sections(of: Any) -> Iterator[str]:
    found = sections(of)
    if "Returns" in found:
        yield f"*Returns* {_lowered(' '.join(found['Returns'].split()))}\n"
    raised = re.findall(r"^    (\w+): (.*?)(?=^    \S|\Z)", found.get("Raises", ""), re.MULTILINE | re.DOTALL)
    if raised:
        yield "*Raises* " + "; ".join(f"`{name}`: {_lowered(' '.join(text.split())).rstrip('.')}" for name, text in raised) + ".\n"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
