"""Runs compared with each other: which cases changed, and whether the difference is more than chance.

`jurat.compare` returns a `Comparison`. Its members are those that `jurat compare --json` writes, as typed values: `docs/guides/compare-runs.md` says what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jurat import _changes, _lines
from jurat._changes import CaseChange, CaseSide, LabelChange, LabelChanges, Note, Pairing, Side, SidePair, VerdictChange
from jurat._comparison_tables import CASE_COLUMNS, LINE_COLUMNS, case_row, line_row
from jurat._documents import Tabled
from jurat._frames import Column
from jurat._lines import Correction, FlipOdds, Line, Method, PairTable, Quantile, Units, Word
from jurat._reading import Interval, of

__all__ = [
    "CaseChange",
    "CaseSide",
    "Comparison",
    "Contrast",
    "Correction",
    "FlipOdds",
    "Interval",
    "LabelChange",
    "LabelChanges",
    "Line",
    "Method",
    "Note",
    "PairTable",
    "Pairing",
    "Quantile",
    "Side",
    "SidePair",
    "Units",
    "VerdictChange",
]


@dataclass(frozen=True, repr=False)
class Contrast:
    """One side compared with BASE.

    Attributes:
        base: The name of BASE.
        new: The name of NEW.
        sentence: The result, in a sentence or two.
        pairing: How cases were paired.
        notes: What else differs.
        lines: Every figure, cases first.
        cases: The cases that changed: critical ones first, then by the size of the change.
        tasks_only_in_base: Tasks that only BASE has.
        tasks_only_in_new: Tasks that only NEW has.
        labels: The labels of tasks that compare nothing.
    """

    base: str
    new: str
    sentence: str
    pairing: Pairing
    notes: tuple[Note, ...]
    lines: tuple[Line, ...]
    cases: tuple[CaseChange, ...]
    tasks_only_in_base: tuple[str, ...]
    tasks_only_in_new: tuple[str, ...]
    labels: tuple[LabelChanges, ...] = ()

    @property
    def headline(self) -> Line | None:
        """The line of the cases; `None` where no case was judged on both sides."""
        return next((it for it in self.lines if it.about == "cases"), None)

    @property
    def word(self) -> Word:
        """What may be said of the share of cases that pass."""
        return "not_shown" if self.headline is None else self.headline.word

    @property
    def regressions(self) -> tuple[CaseChange, ...]:
        """The cases that pass less often in NEW."""
        return tuple(it for it in self.cases if it.is_regression)

    @property
    def fixes(self) -> tuple[CaseChange, ...]:
        """The cases that pass more often in NEW."""
        return tuple(it for it in self.cases if not it.is_regression)

    def task(self, id: str) -> Line:
        """The pass rate of one task.

        Args:
            id: The id of the task.

        Returns:
            Its line.

        Raises:
            KeyError: No such task has verdicts on both sides.
        """
        found = {str(it.task): it for it in self.lines if it.about == "task"}
        if id not in found:
            raise KeyError(f"there is no line of a task `{id}`; there are {', '.join(found) or 'none'}")
        return found[id]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.base} → {self.new}: {_summary(self)}>"


@dataclass(frozen=True, repr=False)
class Comparison(Tabled[Literal["lines", "cases"]]):
    """Runs compared case by case. The first is BASE; a difference is always NEW − BASE.

    Where only two sides are compared, its properties are those of the one `Contrast`; with more, those of the first. Its tables are `lines` and `cases`:
    `base_name` and `new_name` are the sides, the other columns the members of a `Line` or a `CaseChange`, without levels: `low` and `high` are the ends
    of the interval.

    Attributes:
        sides: What was compared, BASE first.
        confidence: The confidence of all intervals.
        comparisons: One `Contrast` for each NEW.
        unpaired: Whether the sides were compared as independent samples.
        pairs: All pairs of three or more sides.
        tiers: The names of three or more sides, in groups: the sides of a group are not shown to differ from its best.
        text: What `jurat compare` prints.
        markdown: The same as Markdown, for pull requests.
        json: The same as `jurat compare --json` writes it.
    """

    sides: tuple[Side, ...]
    confidence: float
    comparisons: tuple[Contrast, ...]
    unpaired: bool
    pairs: tuple[SidePair, ...]
    tiers: tuple[tuple[str, ...], ...]
    text: str
    markdown: str
    json: str

    @property
    def sentence(self) -> str:
        """The result, in a sentence or two."""
        return self.comparisons[0].sentence

    @property
    def headline(self) -> Line | None:
        """The line of the cases; `None` where no case was judged on both sides."""
        return self.comparisons[0].headline

    @property
    def word(self) -> Word:
        """What may be said of the share of cases that pass: `better`, `worse` or `not_shown`."""
        return self.comparisons[0].word

    @property
    def pairing(self) -> Pairing:
        """How cases were paired."""
        return self.comparisons[0].pairing

    @property
    def notes(self) -> tuple[Note, ...]:
        """What else differs between the sides."""
        return self.comparisons[0].notes

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every figure, cases first."""
        return self.comparisons[0].lines

    @property
    def cases(self) -> tuple[CaseChange, ...]:
        """The cases that changed: critical ones first, then by the size of the change."""
        return self.comparisons[0].cases

    @property
    def regressions(self) -> tuple[CaseChange, ...]:
        """The cases that pass less often in NEW."""
        return self.comparisons[0].regressions

    @property
    def fixes(self) -> tuple[CaseChange, ...]:
        """The cases that pass more often in NEW."""
        return self.comparisons[0].fixes

    def task(self, id: str) -> Line:
        """The pass rate of one task.

        Args:
            id: The id of the task.

        Returns:
            Its line.

        Raises:
            KeyError: No such task has verdicts on both sides.
        """
        return self.comparisons[0].task(id)

    def _tables(self) -> dict[str, tuple[list[Column], list[tuple[Any, ...]]]]:
        lines = [line_row(contrast, it) for contrast in self.comparisons for it in contrast.lines]
        cases = [case_row(contrast, it) for contrast in self.comparisons for it in contrast.cases]
        return {"lines": (LINE_COLUMNS, lines), "cases": (CASE_COLUMNS, cases)}

    def __repr__(self) -> str:
        found = "; ".join(f"{it.base} → {it.new}: {_summary(it)}" for it in self.comparisons)
        return f"<{type(self).__name__} {found}>"

    def _repr_html_(self) -> str:
        from jurat._forest import shown

        return shown(self)


def _summary(contrast: Contrast) -> str:
    """A comparison in a few words, for those who look at a value."""
    line = contrast.headline
    if line is None or line.base is None or line.new is None:
        return "no case was judged on both sides"
    word = line.word.replace("_", " ")
    changed = f"{len(contrast.regressions)} worse, {len(contrast.fixes)} better"
    return f"{word}; {line.base:.1%} → {line.new:.1%} of {line.pairs} cases passed ({changed})"


def read(json_text: str, text: str, markdown: str) -> Comparison:
    """A comparison from the documents that the engine writes."""
    import json

    document = json.loads(json_text)
    return Comparison(
        sides=tuple(of(Side, it) for it in document["sides"]),
        confidence=document["confidence"],
        comparisons=tuple(_contrast(it) for it in document["comparisons"]),
        unpaired=document.get("unpaired", False),
        pairs=tuple(_changes.side_pair(it) for it in document.get("pairs", ())),
        tiers=tuple(tuple(it["sides"]) for it in document.get("tiers", ())),
        text=text,
        markdown=markdown,
        json=json_text,
    )


def _contrast(members: dict[str, Any]) -> Contrast:
    parts = {
        "pairing": _changes.pairing(members["pairing"]),
        "notes": [_changes.note(it) for it in members["notes"]],
        "lines": [_lines.line(it) for it in members["lines"]],
        "cases": [_changes.case(it) for it in members["cases"]],
        "labels": [_changes.labels(it) for it in members.get("labels", ())],
    }
    return of(Contrast, {**members, **parts})
