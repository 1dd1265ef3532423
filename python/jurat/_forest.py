"""A comparison in a notebook: its sentence, a forest plot of its intervals, and the cases that changed.

A forest plot has a row for each line: a dot for the difference, a bar for its interval, and a rule where both sides are equal. Rows are those of a table, so that
the browser measures the text; each has a small picture of its own, on a scale that all rows of the table share.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from math import isfinite, log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jurat.comparison import CaseChange, Comparison, Contrast, Line

    #: Where a dot lies, and the ends of its bar, from the rule in the middle.
    Places = tuple[float | None, float | None, float | None]

__all__ = ["shown"]

#: How many cases are listed in each direction.
_MOST_CASES = 10
_WIDTH, _HEIGHT, _MARGIN = 240, 18, 6
#: Colours that are read on white and on black; what is not shown has the colour of the text.
_COLOURS = {"better": "#2f9e44", "worse": "#e03131", "not_shown": "currentColor"}


def shown(comparison: Comparison) -> str:
    """The comparison as HTML. All text of runs is escaped."""
    parts = "".join(_contrast(comparison, it) for it in comparison.comparisons)
    return f'<div class="jurat-comparison">{parts}{_tiers(comparison)}</div>'


def _contrast(comparison: Comparison, contrast: Contrast) -> str:
    notes = "".join(f"<li>{html.escape(it.message)}</li>" for it in contrast.notes)
    rates = [it for it in contrast.lines if it.about in ("cases", "judgements", "task", "slice")]
    scores = [it for it in contrast.lines if it.about == "score"]
    ratios = [it for it in contrast.lines if it.ratio is not None]
    interval = f"{100 * comparison.confidence:g} % interval"
    return (
        f"<p><b>{html.escape(contrast.base)} → {html.escape(contrast.new)}</b><br>{html.escape(contrast.sentence)}</p>"
        f"{f'<ul>{notes}</ul>' if notes else ''}"
        f"{_plot(rates, ['', 'pairs', 'base', 'new', 'difference', interval], _rate_row, _shared(rates, _points))}"
        f"{_plot(scores, ['score', 'pairs', 'base', 'new', 'difference', interval], _score_row, None)}"
        f"{_plot(ratios, ['', 'pairs', 'base', 'new', 'ratio', interval], _ratio_row, _shared(ratios, _doublings))}"
        f"{_cases('worse in NEW', contrast.regressions)}{_cases('better in NEW', contrast.fixes)}"
    )


def _tiers(comparison: Comparison) -> str:
    if not comparison.tiers:
        return ""
    tiers = "".join(f"<li>{html.escape(', '.join(it))}</li>" for it in comparison.tiers)
    return f"<p>Sides of one group are not shown to differ from its best:</p><ol>{tiers}</ol>"


def _plot(lines: Sequence[Line], heads: list[str], row: Callable[[Line], list[str]], scale: float | None) -> str:
    if not lines:
        return ""
    head = "".join(f"<th>{html.escape(it)}</th>" for it in [*heads, "", "says"])
    body = "".join(f"<tr>{''.join(_cells(line, row(line), scale))}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(line: Line, texts: list[str], scale: float | None) -> Iterator[str]:
    name, *numbers = texts
    marks = html.escape(", ".join(line.marks))
    mark = f'<sup title="{marks}">*</sup>' if marks else ""
    yield f'<td style="text-align:left">{html.escape(name)}{mark}</td>'
    yield from (f"<td>{html.escape(it)}</td>" for it in numbers)
    yield f"<td>{_picture(line, scale)}</td>"
    yield _left(line.word.replace("_", " "), _COLOURS[line.word])


def _picture(line: Line, scale: float | None) -> str:
    """The dot and the bar of a line. `scale` is what the distance from the middle to an edge stands for; by default the line fills its picture."""
    place = _doublings if line.ratio is not None else _points
    middle, low, high = place(line)
    if middle is None:
        return ""
    scale = scale or _widest([middle, low, high])
    half = _WIDTH / 2 - _MARGIN

    def x(value: float) -> str:
        return f"{_WIDTH / 2 + half * max(-1.0, min(1.0, value / scale)):.1f}"

    y, colour = _HEIGHT / 2, _COLOURS[line.word]
    bar = "" if low is None or high is None else f'<line x1="{x(low)}" y1="{y}" x2="{x(high)}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f"<title>{html.escape(_said(line))}</title>"
        f'<line x1="{x(0)}" y1="0" x2="{x(0)}" y2="{_HEIGHT}" stroke="currentColor" stroke-opacity="0.35"/>'
        f'{bar}<circle cx="{x(middle)}" cy="{y}" r="4" fill="{colour}"/></svg>'
    )


def _said(line: Line) -> str:
    """What the picture shows, for those who do not see it."""
    texts = _ratio_row(line) if line.ratio is not None else _score_row(line) if line.about == "score" else _rate_row(line)
    return f"{texts[0]}: {texts[4]} ({texts[5]})"


def _points(line: Line) -> Places:
    ends = (None, None) if line.interval is None else (line.interval.low, line.interval.high)
    return line.difference, *ends


def _doublings(line: Line) -> Places:
    """A ratio by how often it doubles, so that a half lies as far to the left as a double to the right."""
    values = (line.ratio, *((None, None) if line.interval is None else (line.interval.low, line.interval.high)))
    middle, low, high = (None if it is None or it <= 0 or not isfinite(it) else log2(it) for it in values)
    return middle, low, high


def _shared(lines: Sequence[Line], place: Callable[[Line], Places]) -> float:
    return _widest([it for line in lines for it in place(line)])


def _widest(values: Sequence[float | None]) -> float:
    return max((abs(it) for it in values if it is not None), default=0.0) or 1.0


def _rate_row(line: Line) -> list[str]:
    return [line.name, str(line.pairs), _percent(line.base), _percent(line.new), _signed(line.difference, 100, 1), _ends(line, 100, 1)]


def _score_row(line: Line) -> list[str]:
    plain = ["" if it is None else f"{it:.4g}" for it in (line.base, line.new)]
    return [str(line.task), str(line.pairs), *plain, _signed(line.difference, 1, 2), _ends(line, 1, 2)]


def _ratio_row(line: Line) -> list[str]:
    plain = ["" if it is None else f"{it:.4g}" for it in (line.base, line.new, line.ratio)]
    ends = () if line.interval is None else (line.interval.low, line.interval.high)
    return [line.name, str(line.pairs), *plain, " – ".join("∞" if it is None else f"{it:.2f}" for it in ends)]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _signed(value: float | None, factor: int, places: int) -> str:
    if value is None:
        return ""
    return f"{factor * value:+.{places}f}".replace("-", "−")


def _ends(line: Line, factor: int, places: int) -> str:
    if line.interval is None:
        return ""
    return f"{_signed(line.interval.low, factor, places) or '−∞'} – {_signed(line.interval.high, factor, places) or '+∞'}"


def _cases(title: str, cases: Sequence[CaseChange]) -> str:
    if not cases:
        return ""
    rows = "".join(f"<tr>{''.join(map(_left, _case(case)))}</tr>" for case in cases[:_MOST_CASES])
    more = f"<p>and {len(cases) - _MOST_CASES} more</p>" if len(cases) > _MOST_CASES else ""
    head = "".join(f"<th>{it}</th>" for it in ("case", "tasks", "verdict", "why"))
    return f"<p><b>{title} ({len(cases)})</b></p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _left(text: str, colour: str = "inherit") -> str:
    return f'<td style="text-align:left;color:{colour}">{html.escape(text)}</td>'


def _case(case: CaseChange) -> list[str]:
    name = ", ".join(it for it in (case.id, case.prompt, case.subject) if it)
    marks = [it for it, is_so in (("critical", case.critical), ("flaky in BASE", case.flaky_in_base)) if is_so]
    is_repeated = case.base.judged > 1 or case.new.judged > 1
    was, now = (f"{it.passed}/{it.judged}" for it in (case.base, case.new)) if is_repeated else (case.was, case.now)
    why = case.new.message if case.is_regression else case.base.message
    return [f"{name} ({', '.join(marks)})" if marks else name, ", ".join(case.tasks), f"{was} → {now}", why or ""]
