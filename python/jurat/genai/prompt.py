"""What is said to a model: messages with places to fill in, and whom to say it to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jurat.errors import UsageError
from jurat.genai.provider import Provider

__all__ = ["Prompt", "Score"]

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Score:
    """A score and why: what judges often answer."""

    score: int
    reason: str


class Prompt:
    """What is said to a model. `${name}` is filled in: by `bind`, or from the record when a judge is asked.

    >>> prompt = Prompt("Is ${answer} right?", model="gemini-2.5-flash-lite", provider="gemini")
    >>> prompt.bind("answer", "42").messages
    ['Is 42 right?']
    >>> prompt.messages
    ['Is ${answer} right?']
    """

    def __init__(
        self,
        messages: str | Mapping[str, str] | Sequence[str | Mapping[str, str]],
        model: str,
        provider: Provider | str,
        output_type: Any = None,
        system_instructions: str | Sequence[str] | None = None,
        model_settings: Any = None,
    ) -> None:
        self.provider: Provider = Provider.of(provider)
        self.provider.require()
        self.model = model
        self.output_type = output_type
        self.model_settings = model_settings
        said = [messages] if isinstance(messages, (str, Mapping)) else list(messages)
        system = [system_instructions] if isinstance(system_instructions, str) else list(system_instructions or ())
        self._templates = [text for it in said if (text := _text(it, system)) is not None]
        self._system = system
        self._bound: dict[str, str] = {}

    @property
    def messages(self) -> list[str]:
        """What the user says, as far as it is filled in."""
        return [self._filled(it) for it in self._templates]

    @property
    def system_instructions(self) -> list[str]:
        """The system prompt, as far as it is filled in."""
        return [self._filled(it) for it in self._system]

    @property
    def parameters(self) -> list[str]:
        """The names that are still to be filled in, in the order in which they come."""
        return [it for it in self._names() if it not in self._bound]

    def _names(self) -> list[str]:
        """The names of all places, each once, in their order."""
        return list(dict.fromkeys(name for text in [*self._templates, *self._system] for name in _PLACE.findall(text)))

    def bind(self, name: str | None = None, value: Any = None, **values: Any) -> Prompt:
        """A copy with places filled in. Text stands as it is, other values as JSON."""
        copy = Prompt.__new__(Prompt)
        copy.__dict__.update(self.__dict__)
        copy._bound = dict(self._bound)
        named = values if name is None else {name: value, **values}
        places = self._names()
        for unknown in (it for it in named if it not in places):
            raise UsageError(f"the prompt has no place `{unknown}`; it has {', '.join(places) or 'none'}")
        copy._bound.update({key: _shown(it) for key, it in named.items()})
        return copy

    def definition(self) -> dict[str, str]:
        """The prompt as a judge of a suite has it."""
        for name, value in self._bound.items():
            if _PLACE.search(value):
                raise UsageError(f"`{name}` was bound to text with a place to fill in, which a judge would fill in again")
        said = {"prompt": "\n\n".join(self.messages)}
        if self._system:
            said["system"] = "\n\n".join(self.system_instructions)
        return said

    def _filled(self, text: str) -> str:
        # In one pass: what is filled in is not looked at again.
        return _PLACE.sub(lambda it: self._bound.get(it[1], it[0]), text)

    def __repr__(self) -> str:
        first = self.messages[0] if self._templates else ""
        shown = first if len(first) <= 60 else f"{first[:57]}..."
        return f"<Prompt {self.provider.value}/{self.model}: {shown!r}>"


def _text(message: str | Mapping[str, str], system: list[str]) -> str | None:
    if isinstance(message, str):
        return message
    role, content = message.get("role", "user"), message.get("content", "")
    if role == "user":
        return content
    if role in ("system", "developer"):
        system.append(content)
        return None
    raise UsageError(f"a prompt is said by `user` or `system`, not by `{role}`")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    from jurat._jurat import to_json

    return to_json(value)
