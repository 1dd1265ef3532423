"""The lines of a comparison: one figure of both sides, and how far it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jurat._reading import Interval, interval, of, some, with_interval

__all__ = ["About", "Correction", "FlipOdds", "Line", "Method", "PairTable", "Quantile", "Units", "Word", "line"]

About = Literal["cases", "judgements", "task", "score", "slice", "cost", "input_tokens", "output_tokens", "latency"]
Word = Literal["better", "worse", "not_shown"]


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


def line(members: dict[str, Any]) -> Line:
    """A line from its document."""
    parts = {
        "interval": interval(members["interval"]),
        "method": of(Method, members["method"]),
        "table": some(PairTable, members.get("table")),
        "flip_odds": with_interval(FlipOdds, members.get("flip_odds")),
        "units": some(Units, members.get("units")),
        "base_p95": with_interval(Quantile, members.get("base_p95")),
        "new_p95": with_interval(Quantile, members.get("new_p95")),
        "corrected": with_interval(Correction, members.get("corrected")),
    }
    return of(Line, {**members, **parts})
