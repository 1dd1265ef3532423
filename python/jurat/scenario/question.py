"""What a node asks, and what is special about asking it there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from jurat._called import source_of
from jurat.errors import DataError

__all__ = ["ModelOverride", "Question", "ToolFilter", "ToolRef"]

#: What stands beside the question in its node, rather than in it.
_BESIDE = ("template", "rubric", "system")


@dataclass
class Question:
    """A question and what would be right, in words.

    `template` says what is read from the answer and what it must be, and `rubric` by what it is rated, both as suites have them. Without a template the
    answer is compared with `raw_answer`.

    A template may also be a pydantic model or a dataclass. A class says what is read; an instance says what it must be as well:
    `template=Capital(city="Paris")`, as `jurat.spec.template` makes it. A class of Karenina, whose fields are `VerifiedField`s, is read from its source.
    """

    question: str
    raw_answer: str
    keywords: list[str] = field(default_factory=list)
    few_shot_examples: list[dict[str, str]] | None = None
    answer_template: str | type | None = None
    answer_notes: str | None = None
    author: dict[str, Any] | None = None
    sources: list[dict[str, Any]] | None = None
    custom_metadata: dict[str, Any] | None = None
    question_rubric: dict[str, Any] | None = None
    question_dynamic_rubric: dict[str, Any] | None = None
    workspace_path: str | None = None
    template: Any = None
    rubric: Sequence[Mapping[str, Any]] | None = None
    system: str | None = None

    def __post_init__(self) -> None:
        for name in ("question", "raw_answer"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text:
                raise DataError(f"`{name}` of a question must be text of at least one letter, not {text!r}")
        if isinstance(self.answer_template, type):
            source = source_of(self.answer_template)
            if "VerifiedField" in source:
                self.answer_template = source
            else:
                self.template, self.answer_template = self.answer_template, None
        if self.template is not None and not isinstance(self.template, Mapping):
            from jurat.spec.templates import template

            self.template = template(self.template)

    @property
    def id(self) -> str:
        """The question by its words."""
        return hashlib.md5(self.question.encode(), usedforsecurity=False).hexdigest()

    def stored(self) -> dict[str, Any]:
        """What is in it, as it is stored."""
        members = {it.name: getattr(self, it.name) for it in fields(self) if it.name not in _BESIDE}
        return {name: value for name, value in members.items() if value is not None and value != []}

    def beside(self) -> dict[str, Any]:
        """What stands beside it in its node."""
        return {name: value for name in _BESIDE if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class ModelOverride:
    """Who answers at a node, and who reads the answer: a role, or `provider/model`."""

    answering_model: str | None = None
    parsing_model: str | None = None

    def stored(self) -> dict[str, Any]:
        """As suites have it."""
        named = {"subject": self.answering_model, "parser": self.parsing_model}
        return {role: model for role, model in named.items() if model is not None}


@dataclass(frozen=True)
class ToolRef:
    """A tool of a server, or all of them."""

    server: str
    tool: str | None = None


@dataclass(frozen=True)
class ToolFilter:
    """Tools that may not be used at a node."""

    remove: Sequence[ToolRef | Mapping[str, str]] = ()

    def stored(self) -> dict[str, Any]:
        """As suites have it."""
        refs = [it if isinstance(it, ToolRef) else ToolRef(**it) for it in self.remove]
        tools = [{"server": it.server, **({} if it.tool is None else {"tool": it.tool})} for it in refs]
        return {"remove": tools}
