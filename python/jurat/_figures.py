"""The figures of a calibration: how far a judge agrees with people, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from jurat._lines import Word
from jurat._reading import Interval, interval, of, with_interval

__all__ = [
    "Advice",
    "Alpha",
    "AnnotatorFigures",
    "AnnotatorPair",
    "Commonest",
    "CorrectedRate",
    "Drift",
    "Estimate",
    "LabelFigures",
    "Probe",
    "SelfPreference",
    "SlotFigures",
    "SlotPair",
    "drift",
    "estimate",
    "figures",
    "probe",
    "self_preference",
    "slots",
]

T = TypeVar("T")


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval.

    Attributes:
        value: The figure; `None` where it cannot be computed: nothing was rated, or ratings do not vary.
        interval: Its interval.
        n: How many independent labels a share rests on.
    """

    value: float | None
    interval: Interval | None
    n: float | None = None


@dataclass(frozen=True)
class Commonest:
    """What always giving the commonest label would reach.

    Attributes:
        label: The label.
        share: The share of cases that people gave it.
    """

    label: str
    share: float


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's α.

    Attributes:
        with_judge: Of people, and the judge as one more.
        people: Of people alone, where there are several.
    """

    with_judge: Estimate
    people: Estimate | None = None


@dataclass(frozen=True)
class LabelFigures:
    """How well the judge finds one label.

    Attributes:
        label: The label.
        precision: Of what the judge gave it, what people did, too.
        recall: Of what people gave it, what the judge did, too.
        f1: The harmonic mean of both.
    """

    label: str
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True)
class AnnotatorFigures:
    """How far one annotator agrees with the majority of the others: no judge can be asked to agree better.

    Attributes:
        annotator: The annotator.
        labels: How many cases were labelled.
        agreement: The share of agreement.
    """

    annotator: str
    labels: int
    agreement: Estimate


@dataclass(frozen=True)
class AnnotatorPair:
    """How far two annotators agree.

    Attributes:
        one: An annotator.
        other: Another one.
        cases: How many cases both labelled.
        agreement: The share of agreement.
        kappa: Cohen's κ.
    """

    one: str
    other: str
    cases: int
    agreement: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class Advice:
    """How many labels would make an interval as narrow as wanted.

    Attributes:
        figure: The figure.
        half_width: Half of the width of its interval.
        wanted: The half-width that is wanted.
        labels: How many labels that takes in all.
        more: How many of them are missing.
    """

    figure: str
    half_width: float
    wanted: float
    labels: int
    more: int


@dataclass(frozen=True)
class CorrectedRate:
    """A pass rate as people would have judged.

    Attributes:
        observed: What the judge passed.
        rate: The corrected rate; `None` where it cannot be given.
        interval: Its interval.
        method: How it was corrected: `poststratified`, `ppi_mean` or `rogan_gladen`.
        reason: Why there is none.
    """

    observed: float | None
    rate: float | None
    interval: Interval | None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class SlotPair:
    """How far two judges of a panel agree.

    Attributes:
        one: A judge.
        other: Another one.
        cases: How many cases both judged.
        kappa: Cohen's κ.
    """

    one: str
    other: str
    cases: int
    kappa: Estimate


@dataclass(frozen=True)
class SlotFigures:
    """What several judges, or one that is asked several times, said about the same answers.

    Attributes:
        cases: How many cases were judged several times.
        equal: The share of cases on which all said the same.
        alpha: Krippendorff's α.
        pairs: Each two judges of a panel.
    """

    cases: int
    equal: Estimate
    alpha: Estimate
    pairs: tuple[SlotPair, ...] = ()


@dataclass(frozen=True)
class Probe:
    """What became of the verdicts when something was changed that should not matter.

    Attributes:
        kind: What was changed.
        cases: How many cases have a verdict before and now.
        n_unknown: How many have none.
        flipped: The share of verdicts that changed.
        difference: How far the pass rate changed.
        interval: Its interval.
        p: How likely so large a difference is by chance.
        mde: The smallest difference that these cases would have shown with a probability of 80 %.
        word: What may be said of it.
    """

    kind: Literal["order", "verbosity", "repeat"]
    cases: int
    n_unknown: int
    flipped: Estimate
    difference: float | None
    interval: Interval | None
    p: float | None
    mde: float | None
    word: Word


@dataclass(frozen=True)
class SelfPreference:
    """Whether the judge passes wrong answers of its own provider more often than those of others.

    Attributes:
        provider: The provider of the judge.
        own: Of its provider's wrong answers, the share that it passes.
        others: The same of others.
        difference: Own − others.
        interval: Its interval.
        reason: Why it was not tested.
    """

    provider: str
    own: Estimate
    others: Estimate
    difference: float | None
    interval: Interval | None
    reason: str | None = None


@dataclass(frozen=True)
class Drift:
    """Whether the judge agrees with people as it did before.

    Attributes:
        run_id: The run of the earlier calibration.
        cases: How many cases both have.
        before: The agreement then.
        now: The agreement now.
        difference: Now − before.
        interval: Its interval.
        p: How likely so large a difference is by chance.
        word: What may be said of it.
    """

    run_id: str
    cases: int
    before: float | None
    now: float | None
    difference: float | None
    interval: Interval | None
    p: float | None
    word: Word


def estimate(members: dict[str, Any] | None) -> Estimate | None:
    """A figure, where there is one."""
    return with_interval(Estimate, members)


def figures(members: dict[str, Any]) -> dict[str, Any]:
    """The figures of a calibration by their names."""
    single = ("agreement", "kappa", "weighted_kappa", "ac1", "sensitivity", "specificity", "difference")
    return {
        **{name: estimate(members.get(name)) for name in single},
        "alpha": _with_estimates(Alpha, members["alpha"]),
        "commonest": None if members.get("commonest") is None else of(Commonest, members["commonest"]),
        "by_label": [_with_estimates(LabelFigures, it) for it in members.get("by_label", ())],
        "annotators": [_with_estimates(AnnotatorFigures, it) for it in members.get("annotators", ())],
        "annotator_pairs": [_with_estimates(AnnotatorPair, it) for it in members.get("annotator_pairs", ())],
        "advice": [of(Advice, it) for it in members.get("advice", ())],
        "corrected": with_interval(CorrectedRate, members.get("corrected")),
    }


def slots(members: dict[str, Any] | None) -> SlotFigures | None:
    """What several judges said, where there are several."""
    if members is None:
        return None
    pairs = [_with_estimates(SlotPair, it) for it in members.get("pairs", ())]
    return _with_estimates(SlotFigures, {**members, "pairs": pairs})


def probe(members: dict[str, Any]) -> Probe:
    """What a probe found."""
    return _with_estimates(Probe, {**members, "interval": interval(members["interval"])})


def self_preference(members: dict[str, Any] | None) -> SelfPreference | None:
    """How the judge treats its own provider, where that was asked."""
    return None if members is None else _with_estimates(SelfPreference, {**members, "interval": interval(members["interval"])})


def drift(members: dict[str, Any] | None) -> Drift | None:
    """How the judge changed, where there is an earlier calibration."""
    return with_interval(Drift, members)


def _with_estimates(kind: type[T], members: dict[str, Any]) -> T:
    return of(kind, {name: estimate(it) if isinstance(it, dict) and "value" in it else it for name, it in members.items()})
