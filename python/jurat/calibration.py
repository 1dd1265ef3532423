"""Judges compared with people: how far a judge can be trusted, and what pass rate people would have given.

`jurat.calibrate` returns a `Calibration`. Its members are those of the file that `jurat calibrate --json` writes, as typed values:
`docs/guides/can-i-trust-my-judge.md` says what they mean. `sheet` makes a sheet of cases for people to label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

from jurat import _figures, _jurat
from jurat._documents import Tabled
from jurat._figures import (
    Advice,
    Alpha,
    AnnotatorFigures,
    AnnotatorPair,
    Commonest,
    CorrectedRate,
    Drift,
    Estimate,
    LabelFigures,
    Probe,
    SelfPreference,
    SlotFigures,
    SlotPair,
)
from jurat._frames import Column
from jurat._reading import Interval, of
from jurat._sides import Evaluated, file_of
from jurat._listing import RunEntry
from jurat.run import Run

__all__ = [
    "Advice",
    "Alpha",
    "AnnotatorFigures",
    "AnnotatorPair",
    "Calibration",
    "Commonest",
    "CorrectedRate",
    "Drift",
    "Estimate",
    "Interval",
    "Judge",
    "LabelCounts",
    "LabelFigures",
    "Probe",
    "RatedCase",
    "Scale",
    "SelfPreference",
    "SlotFigures",
    "SlotPair",
    "sheet",
]


@dataclass(frozen=True)
class Judge:
    """Who judges.

    Attributes:
        model: The model, or the models of a panel.
        parts: The digest of each part of the definition.
        settings: The settings of the model.
        served: Who served it, as the provider says.
    """

    model: str
    parts: dict[str, str]
    settings: str = ""
    served: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelCounts:
    """What became of the lines of labels.

    Attributes:
        digest: The digest of the labels that count.
        n: How many count.
        annotators: Who labelled.
        unmatched: About cases that the run does not have.
        judge_error: About cases whose judge gave no verdict.
        other_answer: About another answer than the run has.
        other_task: About other tasks or suites.
        empty: Lines without a label yet.
        unsure: Lines whose annotator was not sure.
    """

    digest: str
    n: int
    annotators: tuple[str, ...]
    unmatched: int
    judge_error: int
    other_answer: int
    other_task: int
    empty: int
    unsure: int


@dataclass(frozen=True)
class Scale:
    """What people and the judge choose from.

    Attributes:
        kind: `pass_fail`, `labels` or `scores`.
        labels: The labels, in the order of the judge's `enum`, else by name.
        is_ordered: Whether neighbouring labels are nearer to each other than others are.
    """

    kind: Literal["pass_fail", "labels", "scores"]
    labels: tuple[str, ...] = ()
    is_ordered: bool = False


@dataclass(frozen=True)
class RatedCase:
    """A case that people labelled.

    Attributes:
        case: The id of the case.
        people: What most annotators said; `None` where none has a majority.
        judge: What the judge said.
    """

    case: str
    people: str | None
    judge: str

    @property
    def is_agreed(self) -> bool:
        """Whether the judge said what people said."""
        return self.people == self.judge


@dataclass(frozen=True, repr=False)
class Calibration(Tabled[Literal["figures", "cases"]]):
    """How far the judge of a task can be trusted. What does not apply to its labels is `None` or empty.

    Its tables are `figures` (`figure`, `value`, `low`, `high` and `n`) and `cases` (`case`, `people`, `judge` and `agreed`).

    Attributes:
        suite: The suite.
        task: The task whose judge it is about.
        judge_key: What the figures hold for: a judge that is defined otherwise is another one.
        judge: Who judges.
        labels: What became of the lines of labels.
        confidence: The confidence of all intervals.
        scale: What people and the judge choose from.
        design: How the labelled cases were chosen: `strata`, `weights`, `random` or `unknown`.
        n: How many cases have a label that most annotators gave.
        n_disputed: How many have none.
        alpha: Krippendorff's α.
        cases: The cases that people labelled.
        matrix: How often people said what (rows) and the judge said what (columns), in the order of the labels; `fail` before `pass`.
        weighted_matrix: The same by weights.
        agreement: The share of cases on which both agree.
        commonest: What always giving the commonest label would reach.
        kappa: Cohen's κ.
        weighted_kappa: The same for ordered labels.
        ac1: Gwet's AC1.
        by_label: Precision and recall of each label.
        sensitivity: Of what people passed, what the judge passed.
        specificity: Of what people failed, what the judge failed.
        difference: The mean difference of scores, judge − people.
        annotators: How far people agree with each other.
        annotator_pairs: The same for each two.
        too_few: Why the figures are not to be relied on.
        advice: How many labels narrower intervals take.
        corrected: The pass rate of the run as people would have judged.
        slots: What the judges of a panel said about the same.
        repetitions: What the judge said in repetitions that have the same answer.
        judge_within: The share of the variance between repetitions that is the judge's own.
        probes: What became of the verdicts when something was changed that should not matter.
        self_preference: How the judge treats its own provider.
        drift: Whether the judge agrees with people as it did before.
        made_at: When it was made.
        run_id: The run.
        notes: What could not be probed, and why.
        text: What `jurat calibrate` prints.
        markdown: The same as Markdown, for pull requests.
        json: The file that `jurat calibrate --json` writes.
    """

    suite: str
    task: str
    judge_key: str
    judge: Judge
    labels: LabelCounts
    confidence: float
    scale: Scale
    design: Literal["strata", "weights", "random", "unknown"]
    n: int
    n_disputed: int
    alpha: Alpha
    cases: tuple[RatedCase, ...]
    text: str
    markdown: str
    json: str
    matrix: tuple[tuple[float, ...], ...] = ()
    weighted_matrix: tuple[tuple[float, ...], ...] = ()
    agreement: Estimate | None = None
    commonest: Commonest | None = None
    kappa: Estimate | None = None
    weighted_kappa: Estimate | None = None
    ac1: Estimate | None = None
    by_label: tuple[LabelFigures, ...] = ()
    sensitivity: Estimate | None = None
    specificity: Estimate | None = None
    difference: Estimate | None = None
    annotators: tuple[AnnotatorFigures, ...] = ()
    annotator_pairs: tuple[AnnotatorPair, ...] = ()
    too_few: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    corrected: CorrectedRate | None = None
    slots: SlotFigures | None = None
    repetitions: SlotFigures | None = None
    judge_within: float | None = None
    probes: tuple[Probe, ...] = ()
    self_preference: SelfPreference | None = None
    drift: Drift | None = None
    made_at: str | None = None
    run_id: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def disagreements(self) -> tuple[RatedCase, ...]:
        """The cases on which judge and people disagree."""
        return tuple(it for it in self.cases if it.people is not None and not it.is_agreed)

    def label(self, name: str) -> LabelFigures:
        """How well the judge finds one label.

        Args:
            name: The label.

        Returns:
            Its figures.

        Raises:
            KeyError: There is no such label.
        """
        found = {it.label: it for it in self.by_label}
        if name not in found:
            raise KeyError(f"there is no label `{name}`; there are {', '.join(found) or 'none'}")
        return found[name]

    def figures(self) -> dict[str, Estimate]:
        """Every figure by its name: `agreement`, `kappa`, `precision of pass` and so on.

        Returns:
            The figures that these labels give.
        """
        return dict(_figure_rows(self))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the calibration file, as `jurat compare --calibration` and gates take it.

        Args:
            path: The file.

        Raises:
            OSError: It cannot be written.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.json)

    def _tables(self) -> dict[str, tuple[list[Column], list[tuple[Any, ...]]]]:
        figures = [_figure_row(*it) for it in self.figures().items()]
        cases = [(it.case, it.people, it.judge, it.is_agreed) for it in self.cases]
        return {"figures": (_FIGURE_COLUMNS, figures), "cases": (_CASE_COLUMNS, cases)}

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {it.value:.2f}" for name, it in self.figures().items() if name in ("agreement", "kappa") and it.value is not None)
        return f"<{type(self).__name__} {self.task}: {self.n} labelled cases{f', {found}' if found else ''}>"

    def _repr_html_(self) -> str:
        from jurat._agreement import shown

        return shown(self)


_FIGURE_COLUMNS = [Column("figure", "text"), Column("value", "number"), Column("low", "number"), Column("high", "number"), Column("n", "number")]
_CASE_COLUMNS = [Column("case", "text"), Column("people", "text"), Column("judge", "text"), Column("agreed", "flag")]


def _figure_row(name: str, figure: Estimate) -> tuple[Any, ...]:
    interval = figure.interval or Interval(None, None)
    return name, figure.value, interval.low, interval.high, figure.n


def _figure_rows(calibration: Calibration) -> list[tuple[str, Estimate]]:
    single = ("agreement", "kappa", "weighted_kappa", "ac1", "sensitivity", "specificity", "difference")
    found = [(name, getattr(calibration, name)) for name in single]
    found += [("alpha", calibration.alpha.with_judge), ("alpha of people", calibration.alpha.people)]
    for it in calibration.by_label:
        found += [(f"precision of {it.label}", it.precision), (f"recall of {it.label}", it.recall), (f"f1 of {it.label}", it.f1)]
    found += [(f"agreement of {it.annotator} with the others", it.agreement) for it in calibration.annotators]
    return [(name, it) for name, it in found if it is not None]


def sheet(
    run: Run | RunEntry | Evaluated | str | PathLike[str],
    n: int,
    *,
    task: str | None = None,
    labels: Sequence[str | PathLike[str]] = (),
    seed: int = 0,
    directory: str | PathLike[str] = ".",
) -> str:
    """A sheet of cases for people to label: without verdicts, half from each verdict of the judge.

    Args:
        run: The run, as `jurat.compare` takes it.
        n: The number of cases.
        task: The task whose judge is looked at; default: the only one that has a judge.
        labels: Files of labels: cases that they are about already are not on the sheet.
        seed: Which cases are drawn: the same seed gives the same sheet.
        directory: The directory whose project has the runs that are given by name.

    Returns:
        The sheet as CSV. `label` and `annotator` are to be filled in.

    Raises:
        ReadError: The run cannot be read.
        RunError: There is no case to label.
        UsageError: There is no such run or task.

    Example:
        >>> import jurat
        >>> from jurat.calibration import sheet
        >>> rows = [{"id": f"r{n}", "n": n} for n in range(10)]
        >>> run = jurat.evaluate(lambda n: 2 * n, rows, [lambda output: output < 10])
        >>> sheet(run, 4).splitlines()[0].split(",")[:3]
        ['case', 'task', 'output']
    """
    return _jurat.label_sheet(directory, file_of(run), [str(it) for it in labels], task, n, seed)


def read(json_text: str, text: str, markdown: str, notes: Sequence[str] = ()) -> Calibration:
    """A calibration from the documents that the engine writes."""
    import json

    document = json.loads(json_text)
    parts = {
        **_figures.figures(document),
        "judge": of(Judge, document["judge"]),
        "labels": of(LabelCounts, document["labels"]),
        "scale": of(Scale, document["scale"]),
        "matrix": [tuple(it) for it in document.get("matrix", ())],
        "weighted_matrix": [tuple(it) for it in document.get("weighted_matrix", ())],
        "cases": [of(RatedCase, it) for it in document["cases"]],
        "slots": _figures.slots(document.get("slots")),
        "repetitions": _figures.slots(document.get("repetitions")),
        "probes": [_figures.probe(it) for it in document.get("probes", ())],
        "self_preference": _figures.self_preference(document.get("self_preference")),
        "drift": _figures.drift(document.get("drift")),
        "notes": tuple(notes),
    }
    return of(Calibration, {**document, **parts, "text": text, "markdown": markdown, "json": json_text})
