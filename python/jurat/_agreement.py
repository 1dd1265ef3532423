"""A calibration in a notebook: its figures with their intervals on one scale, and the matrix of people and judge."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jurat.calibration import Calibration, Estimate, RatedCase

__all__ = ["shown"]

#: How many cases are listed.
_MOST_CASES = 10
_WIDTH, _HEIGHT, _MARGIN = 240, 18, 6
#: Figures that lie between −1 and 1; all others lie between 0 and 1.
_SIGNED = ("kappa", "weighted_kappa", "ac1", "alpha", "alpha of people")


def shown(calibration: Calibration) -> str:
    """The calibration as HTML. All text of runs and labels is escaped."""
    few = "".join(f"<li>too few to rely on: {html.escape(it)}</li>" for it in calibration.too_few)
    notes = "".join(f"<li>{html.escape(it)}</li>" for it in calibration.notes)
    rows = "".join(_row(name, it) for name, it in calibration.figures().items() if name != "difference")
    interval = f"{100 * calibration.confidence:g} % interval"
    head = "".join(f"<th>{html.escape(it)}</th>" for it in ("", "value", interval, ""))
    return (
        f'<div class="jurat-calibration"><p><b>{html.escape(calibration.task)}</b>: {calibration.n} labelled cases, judged by {html.escape(calibration.judge.model)}</p>'
        f"{f'<ul>{few}{notes}</ul>' if few or notes else ''}{_corrected(calibration)}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{_matrix(calibration)}{_cases(calibration.disagreements)}</div>"
    )


def _corrected(calibration: Calibration) -> str:
    found = calibration.corrected
    if found is None or found.rate is None or found.observed is None or found.interval is None:
        return ""
    low, high = (0.0 if it is None else it for it in (found.interval.low, found.interval.high))
    return f"<p>The judge passes {found.observed:.1%}; as people would have judged, {found.rate:.1%} pass ({low:.1%} to {high:.1%}).</p>"


def _row(name: str, figure: Estimate) -> str:
    interval = figure.interval
    ends = "" if interval is None or interval.low is None or interval.high is None else f"{interval.low:.2f} – {interval.high:.2f}"
    value = "" if figure.value is None else f"{figure.value:.2f}"
    return f'<tr><td style="text-align:left">{html.escape(name.replace("_", " "))}</td><td>{value}</td><td>{ends}</td><td>{_picture(name, figure, ends)}</td></tr>'


def _picture(name: str, figure: Estimate, ends: str) -> str:
    """A dot and a bar between the least and the most that a figure can be, with a rule at 0."""
    if figure.value is None:
        return ""
    least = -1.0 if name in _SIGNED else 0.0
    room = _WIDTH - 2 * _MARGIN

    def x(value: float) -> str:
        return f"{_MARGIN + room * max(0.0, min(1.0, (value - least) / (1.0 - least))):.1f}"

    y, interval = _HEIGHT / 2, figure.interval
    bar = ""
    if interval is not None and interval.low is not None and interval.high is not None:
        bar = f'<line x1="{x(interval.low)}" y1="{y}" x2="{x(interval.high)}" y2="{y}" stroke="currentColor" stroke-width="2"/>'
    said = f"{name}: {figure.value:.2f} ({ends})"
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{html.escape(said)}</title>'
        f'<line x1="{x(0)}" y1="0" x2="{x(0)}" y2="{_HEIGHT}" stroke="currentColor" stroke-opacity="0.35"/>'
        f'{bar}<circle cx="{x(figure.value)}" cy="{y}" r="4" fill="currentColor"/></svg>'
    )


def _matrix(calibration: Calibration) -> str:
    if not calibration.matrix:
        return ""
    labels = calibration.scale.labels or ("fail", "pass")
    head = "".join(f"<th>judge: {html.escape(it)}</th>" for it in labels)
    rows = "".join(
        f"<tr><th>people: {html.escape(label)}</th>{''.join(f'<td>{n:g}</td>' for n in row)}</tr>"
        for label, row in zip(labels, calibration.matrix, strict=True)
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cases(cases: tuple[RatedCase, ...]) -> str:
    if not cases:
        return ""
    rows = "".join(f"<tr>{_left(it.case)}{_left(it.people or '')}{_left(it.judge)}</tr>" for it in cases[:_MOST_CASES])
    more = f"<p>and {len(cases) - _MOST_CASES} more</p>" if len(cases) > _MOST_CASES else ""
    head = "".join(f"<th>{it}</th>" for it in ("case", "people", "judge"))
    return f"<p><b>judge and people disagree ({len(cases)})</b></p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _left(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'
