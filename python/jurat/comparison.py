"""Runs compared with each other: which cases changed, and whether the difference is more than chance.

`jurat.compare` returns a `Comparison`. Its members are those that `jurat compare --json` writes, as typed values: `docs/guides/compare-runs.md` says what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from jurat._frames import Column, to_arrow, to_pandas, to_polars

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    from jurat._later import Later

    pandas, polars, pyarrow = map(Later, ("pandas", "polars", "pyarrow"))

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

About = Literal["cases", "judgements", "task", "score", "slice", "cost", "input_tokens", "output_tokens", "latency"]
Word = Literal["better", "worse", "not_shown"]


@dataclass(frozen=True)
class Interval:
    """What lies between two ends.

    Attributes:
        low: The lower end; `None` where there is none.
        high: The upper end; `None` where there is none.
    """

    low: float | None
    high: float | None


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
class Method:
    """How a line was computed.

    Attributes:
        interval: The method of the interval.
        test: The method of the test.
    """

    interval: str
    test: str


@dataclass(frozen=True)
class PairTable:
    """How pairs of cases that were not repeated ended.

    Attributes:
        both: Passed on both sides.
        only_base: Passed in BASE alone.
        only_new: Passed in NEW alone.
        neither: Passed on neither side.
    """

    both: int
    only_base: int
    only_new: int
    neither: int


@dataclass(frozen=True)
class FlipOdds:
    """How many cases became better for each that became worse.

    Attributes:
        ratio: The ratio; `None` where no case became worse.
        interval: Its interval.
    """

    ratio: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Units:
    """How many cases moved which way.

    Attributes:
        better: Better in NEW.
        same: The same on both sides.
        worse: Worse in NEW.
    """

    better: int
    same: int
    worse: int


@dataclass(frozen=True)
class Quantile:
    """A quantile with its interval.

    Attributes:
        value: The value.
        interval: Its interval; `None` where there are too few values.
    """

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Correction:
    """A difference that is corrected for the errors of a judge.

    Attributes:
        difference: The corrected difference.
        interval: Its interval.
        method: How it was corrected.
    """

    difference: float | None
    interval: Interval | None
    method: str


@dataclass(frozen=True)
class Line:
    """One figure of both sides, and how far it differs.

    Attributes:
        about: What it is about.
        pairs: How many pairs it rests on.
        base: The figure of BASE: a share of what passed, a mean score, an amount.
        new: The figure of NEW.
        interval: The interval of `difference`, or of `ratio`.
        method: How it was computed.
        word: What may be said of it. `better` and `worse` mean that chance does not explain the difference.
        marks: What to be careful about: codes of notes, `borderline`, `few_clusters`.
        task: The task, for `task` and `score`.
        path: The path of a slice.
        value: The value of a slice.
        of: Who took the tokens or the money: `subject` or `judging`.
        gate: Whether the task decides if others are looked at.
        clusters: How many independent groups the pairs form.
        difference: NEW − BASE.
        ratio: NEW / BASE, for cost, tokens and latency.
        p: How likely so large a difference is by chance.
        q: The same, adjusted for the other lines of its kind.
        table: How pairs ended, for cases that were not repeated.
        flip_odds: How many became better for each that became worse.
        units: How many cases moved which way, where cases were repeated or scored.
        d_z: The mean difference of scores in standard deviations.
        rank_biserial: How far ranks of differences lie on one side, from −1 to 1.
        unknown: How many pairs could not be judged on a side.
        not_applicable: How many pairs nothing was to be judged of.
        least: The difference if everything unknown had gone against NEW.
        most: The difference if everything unknown had gone for NEW.
        robust: Whether what is unknown could not change the word.
        mde: The smallest difference that these cases would have shown with a probability of 80 %; `None` where none would, or where one is shown.
        base_p95: The latency that 95 % of the cases of BASE stay below.
        new_p95: The same of NEW.
        left_out: How many cases are left out because something is not known of them.
        reused: How many responses are from the cache, with the latency of then.
        corrected: The difference corrected for the errors of a judge.
    """

    about: About
    pairs: int
    base: float | None
    new: float | None
    interval: Interval | None
    method: Method
    word: Word
    marks: tuple[str, ...]
    task: str | None = None
    path: str | None = None
    value: str | None = None
    of: str | None = None
    gate: bool = False
    clusters: int | None = None
    difference: float | None = None
    ratio: float | None = None
    p: float | None = None
    q: float | None = None
    table: PairTable | None = None
    flip_odds: FlipOdds | None = None
    units: Units | None = None
    d_z: float | None = None
    rank_biserial: float | None = None
    unknown: int | None = None
    not_applicable: int | None = None
    least: float | None = None
    most: float | None = None
    robust: bool | None = None
    mde: float | None = None
    base_p95: Quantile | None = None
    new_p95: Quantile | None = None
    left_out: int = 0
    reused: int = 0
    corrected: Correction | None = None

    @property
    def name(self) -> str:
        """What it is called in tables."""
        if self.about == "task":
            return str(self.task)
        if self.about == "score":
            return f"{self.task} (score)"
        if self.about == "slice":
            return f"{self.path} = {'none' if self.value is None else self.value}"
        kind = self.about.replace("_", " ")
        return f"{kind} of {self.of}" if self.of else kind

    @property
    def moved(self) -> Units | None:
        """How many cases became better or worse, whether they were repeated or not."""
        if self.table is None:
            return self.units
        return Units(better=self.table.only_new, same=self.table.both + self.table.neither, worse=self.table.only_base)


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
class Comparison:
    """Runs compared case by case. The first is BASE; a difference is always NEW − BASE.

    Where only two sides are compared, its properties are those of the one `Contrast`; with more, those of the first.

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

    def to_dict(self) -> dict[str, Any]:
        """What `jurat compare --json` writes, as an object.

        Returns:
            A dict.
        """
        import json

        document: dict[str, Any] = json.loads(self.json)
        return document

    def to_arrow(self, of: Literal["lines", "cases"] = "lines") -> pyarrow.Table:
        """The lines of all comparisons, or the cases that changed, as a table of pyarrow.

        Args:
            of: What the table has a row for.

        Returns:
            A table. `base_name` and `new_name` are the sides, the other columns the members of a `Line` or a `CaseChange`, without levels:
            `low` and `high` are the ends of the interval.

        Raises:
            ImportError: pyarrow is not installed.
        """
        return to_arrow(*self._table(of))

    def to_pandas(self, of: Literal["lines", "cases"] = "lines") -> pandas.DataFrame:
        """The same as a data frame of pandas. It needs no pyarrow.

        Args:
            of: As for `to_arrow`.

        Returns:
            A data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return to_pandas(*self._table(of))

    def to_polars(self, of: Literal["lines", "cases"] = "lines") -> polars.DataFrame:
        """The same as a data frame of Polars. It needs no pyarrow.

        Args:
            of: As for `to_arrow`.

        Returns:
            A data frame.

        Raises:
            ImportError: Polars is not installed.
        """
        return to_polars(*self._table(of))

    def _table(self, of: str) -> tuple[list[Column], list[tuple[Any, ...]]]:
        if of == "lines":
            return _LINE_COLUMNS, [_line_row(contrast, it) for contrast in self.comparisons for it in contrast.lines]
        if of == "cases":
            return _CASE_COLUMNS, [_case_row(contrast, it) for contrast in self.comparisons for it in contrast.cases]
        raise ValueError(f"a comparison has tables of `lines` and of `cases`, not of `{of}`")

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


_LINE_COLUMNS = [
    Column("base_name", "text"),
    Column("new_name", "text"),
    Column("about", "text"),
    Column("name", "text"),
    Column("task", "text"),
    Column("path", "text"),
    Column("value", "text"),
    Column("of", "text"),
    Column("pairs", "count"),
    Column("clusters", "count"),
    Column("base", "number"),
    Column("new", "number"),
    Column("difference", "number"),
    Column("ratio", "number"),
    Column("low", "number"),
    Column("high", "number"),
    Column("p", "number"),
    Column("q", "number"),
    Column("better", "count"),
    Column("same", "count"),
    Column("worse", "count"),
    Column("unknown", "count"),
    Column("least", "number"),
    Column("most", "number"),
    Column("robust", "flag"),
    Column("mde", "number"),
    Column("d_z", "number"),
    Column("rank_biserial", "number"),
    Column("word", "text"),
    Column("marks", "texts"),
]


def _line_row(contrast: Contrast, line: Line) -> tuple[Any, ...]:
    interval = line.interval or Interval(None, None)
    moved = line.moved
    better, same, worse = (moved.better, moved.same, moved.worse) if moved else (None, None, None)
    return (
        *(contrast.base, contrast.new, line.about, line.name, line.task, line.path, line.value, line.of),
        *(line.pairs, line.clusters, line.base, line.new, line.difference, line.ratio, interval.low, interval.high, line.p, line.q),
        *(better, same, worse, line.unknown, line.least, line.most, line.robust, line.mde, line.d_z, line.rank_biserial),
        *(line.word, list(line.marks)),
    )


_CASE_COLUMNS = [
    Column("base_name", "text"),
    Column("new_name", "text"),
    Column("id", "text"),
    Column("prompt", "text"),
    Column("subject", "text"),
    Column("tasks", "texts"),
    Column("was", "text"),
    Column("now", "text"),
    Column("regression", "flag"),
    Column("base_passed", "count"),
    Column("base_judged", "count"),
    Column("new_passed", "count"),
    Column("new_judged", "count"),
    Column("p", "number"),
    Column("likely", "flag"),
    Column("flaky_in_base", "flag"),
    Column("critical", "flag"),
    Column("same_answer", "flag"),
    Column("base_message", "text"),
    Column("new_message", "text"),
    Column("base_response", "text"),
    Column("new_response", "text"),
]


def _case_row(contrast: Contrast, case: CaseChange) -> tuple[Any, ...]:
    base, new = case.base, case.new
    return (
        *(contrast.base, contrast.new, case.id, case.prompt, case.subject, list(case.tasks), case.was, case.now, case.is_regression),
        *(base.passed, base.judged, new.passed, new.judged, case.p, case.likely, case.flaky_in_base, case.critical, case.same_answer),
        *(base.message, new.message, base.response, new.response),
    )


def read(json_text: str, text: str, markdown: str) -> Comparison:
    """A comparison from the documents that the engine writes."""
    import json

    document = json.loads(json_text)
    return Comparison(
        sides=tuple(_of(Side, it) for it in document["sides"]),
        confidence=document["confidence"],
        comparisons=tuple(_contrast(it) for it in document["comparisons"]),
        unpaired=document.get("unpaired", False),
        pairs=tuple(_of(SidePair, {**it, "interval": interval(it["interval"])}) for it in document.get("pairs", ())),
        tiers=tuple(tuple(it["sides"]) for it in document.get("tiers", ())),
        text=text,
        markdown=markdown,
        json=json_text,
    )


T = TypeVar("T")


def _of(kind: type[T], members: dict[str, Any]) -> T:
    """An object of the members that its class knows: a later engine may write more."""
    known = {it.name for it in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: tuple(it) if isinstance(it, list) else it for name, it in members.items() if name in known})


def _some(kind: type[T], members: dict[str, Any] | None) -> T | None:
    return None if members is None else _of(kind, members)


def interval(members: dict[str, Any] | None) -> Interval | None:
    """An interval, where there is one."""
    return _some(Interval, members)


def note(members: dict[str, Any]) -> Note:
    """What else differs between sides."""
    return _of(Note, members)


def _with_interval(kind: type[T], members: dict[str, Any] | None) -> T | None:
    return None if members is None else _of(kind, {**members, "interval": interval(members["interval"])})


def _contrast(members: dict[str, Any]) -> Contrast:
    pairing = {**members["pairing"], "changes": [_of(VerdictChange, it) for it in members["pairing"]["changes"]]}
    parts = {
        "pairing": _of(Pairing, pairing),
        "notes": [note(it) for it in members["notes"]],
        "lines": [_line(it) for it in members["lines"]],
        "cases": [_case(it) for it in members["cases"]],
        "labels": [_of(LabelChanges, {**it, "transitions": [_of(LabelChange, to) for to in it["transitions"]]}) for it in members.get("labels", ())],
    }
    return _of(Contrast, {**members, **parts})


def _line(members: dict[str, Any]) -> Line:
    parts = {
        "interval": interval(members["interval"]),
        "method": _of(Method, members["method"]),
        "table": _some(PairTable, members.get("table")),
        "flip_odds": _with_interval(FlipOdds, members.get("flip_odds")),
        "units": _some(Units, members.get("units")),
        "base_p95": _with_interval(Quantile, members.get("base_p95")),
        "new_p95": _with_interval(Quantile, members.get("new_p95")),
        "corrected": _with_interval(Correction, members.get("corrected")),
    }
    return _of(Line, {**members, **parts})


def _case(members: dict[str, Any]) -> CaseChange:
    sides = {side: _of(CaseSide, members[side]) for side in ("base", "new")}
    return _of(CaseChange, {**members, **sides})
