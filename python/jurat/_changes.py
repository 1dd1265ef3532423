"""What is compared and what changed: sides, how their cases were paired, and the cases and labels that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jurat._reading import Interval, interval, of

__all__ = [
    "CaseChange",
    "CaseSide",
    "LabelChange",
    "LabelChanges",
    "Note",
    "Pairing",
    "Side",
    "SidePair",
    "VerdictChange",
    "case",
    "labels",
    "note",
    "pairing",
    "side_pair",
]


@dataclass(frozen=True)
class Side:
    """A run or a baseline that is compared, or a part of one.

    Attributes:
        name: How it was named.
        run_id: The id of its run.
        suite: The suite that was run.
        suite_hash: The digest of the definition.
        selection: Which `prompt` and which `subject` of the run it is, where it is a part.
        cases: How many cases it has.
        complete: Whether the run reached its end over all rows.
    """

    name: str
    run_id: str
    suite: str
    suite_hash: str
    selection: dict[str, str]
    cases: int
    complete: bool


@dataclass(frozen=True)
class Note:
    """Something besides the subject that differs between the sides.

    Attributes:
        code: What it is, such as `judge_model_differs`.
        message: The same as a sentence.
        task: The task that it is about.
        was: What BASE has.
        now: What NEW has.
        pairs: How many pairs it is about.
    """

    code: str
    message: str
    task: str | None = None
    was: str | None = None
    now: str | None = None
    pairs: int | None = None


@dataclass(frozen=True)
class VerdictChange:
    """How many cases ended one way in BASE and another way in NEW.

    Attributes:
        was: The verdict in BASE.
        now: The verdict in NEW.
        cases: The number of cases.
    """

    was: str
    now: str
    cases: int


@dataclass(frozen=True)
class Pairing:
    """How the cases of two sides were paired.

    Attributes:
        key: What identifies a case: `id`, and where they matter `prompt` and `subject`.
        by_content: Whether rows have no ids and were paired by their content.
        pairs: How many pairs were judged on both sides.
        unknown: How many pairs could not be judged on a side.
        not_applicable: How many pairs nothing was to be judged of.
        changed: How many rows have the same id and other content, and are left out.
        only_in_base: How many cases only BASE has.
        only_in_new: How many cases only NEW has.
        all: How many cases both sides have.
        changes: How the cases of both sides ended.
        clusters: How many independent groups the pairs form.
        cluster_by: The path of what rows of a group share.
    """

    key: tuple[str, ...]
    by_content: bool
    pairs: int
    unknown: int
    not_applicable: int
    changed: int
    only_in_base: int
    only_in_new: int
    all: int
    changes: tuple[VerdictChange, ...]
    clusters: int
    cluster_by: str | None = None


@dataclass(frozen=True)
class LabelChange:
    """How often one label became another.

    Attributes:
        was: The label in BASE.
        now: The label in NEW.
        pairs: The number of pairs.
    """

    was: str
    now: str
    pairs: int


@dataclass(frozen=True)
class LabelChanges:
    """The labels of a task that compares nothing.

    Attributes:
        task: The task.
        pairs: How many pairs have a label on both sides.
        unknown: How many pairs have none on a side.
        changed: How many pairs have another label in NEW.
        transitions: Which label became which.
    """

    task: str
    pairs: int
    unknown: int
    changed: int
    transitions: tuple[LabelChange, ...]


@dataclass(frozen=True)
class CaseSide:
    """How a changed case ended on one side.

    Attributes:
        passed: How many of its repetitions passed.
        judged: How many of its repetitions were judged.
        message: Why it failed.
        response: What was answered, of the first `described` cases.
    """

    passed: int
    judged: int
    message: str | None = None
    response: str | None = None

    @property
    def pass_rate(self) -> float:
        """The share of its repetitions that passed; 0 where none was judged."""
        return self.passed / max(self.judged, 1)


@dataclass(frozen=True)
class CaseChange:
    """A case that ended otherwise in NEW.

    Attributes:
        id: The id of the case.
        tasks: The tasks that ended otherwise.
        was: Its verdict in BASE.
        now: Its verdict in NEW.
        base: How it ended in BASE.
        new: How it ended in NEW.
        flaky_in_base: Whether its repetitions in BASE passed and failed.
        critical: Whether it has the tag `critical`.
        same_answer: Whether both sides judged the same answer; `None` where that is not known.
        prompt: The prompt, where there are several.
        subject: The subject, where there are several.
        p: How likely so large a change is by chance, for repeated cases.
        likely: Whether the change is probably not chance, for repeated cases.
    """

    id: str
    tasks: tuple[str, ...]
    was: str
    now: str
    base: CaseSide
    new: CaseSide
    flaky_in_base: bool
    critical: bool
    same_answer: bool | None
    prompt: str | None = None
    subject: str | None = None
    p: float | None = None
    likely: bool | None = None

    @property
    def is_regression(self) -> bool:
        """Whether it passes less often in NEW."""
        return self.new.pass_rate < self.base.pass_rate


@dataclass(frozen=True)
class SidePair:
    """Two of three or more sides.

    Attributes:
        base: The name of the one.
        new: The name of the other.
        pairs: How many cases both have.
        difference: The difference of their pass rates.
        interval: Its interval, which is not adjusted for the other pairs.
        p: How likely so large a difference is by chance.
        p_adjusted: The same, adjusted for the other pairs by Holm's method.
    """

    base: str
    new: str
    pairs: int
    difference: float | None
    interval: Interval | None
    p: float | None
    p_adjusted: float | None


def note(members: dict[str, Any]) -> Note:
    """What else differs between sides."""
    return of(Note, members)


def pairing(members: dict[str, Any]) -> Pairing:
    """How cases were paired."""
    return of(Pairing, {**members, "changes": [of(VerdictChange, it) for it in members["changes"]]})


def labels(members: dict[str, Any]) -> LabelChanges:
    """The labels of a task that compares nothing."""
    return of(LabelChanges, {**members, "transitions": [of(LabelChange, it) for it in members["transitions"]]})


def case(members: dict[str, Any]) -> CaseChange:
    """A case that changed."""
    sides = {side: of(CaseSide, members[side]) for side in ("base", "new")}
    return of(CaseChange, {**members, **sides})


def side_pair(members: dict[str, Any]) -> SidePair:
    """Two of several sides."""
    return of(SidePair, {**members, "interval": interval(members["interval"])})
