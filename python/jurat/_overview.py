"""A run in a notebook: the sentence that says how it ended, its cases as a bar, and its tasks as bars with the intervals of their pass rates.

It is the overview of the viewer in short. Notebooks have light and dark pages, so text has the colour of the page, and fills are read on both.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jurat.run import Run

__all__ = ["shown"]

#: How many tasks are shown; a run of more has them in its table.
_MOST_TASKS = 40
_WIDTH, _HEIGHT = 220, 12
#: Verdicts in the order of bars, each with its fill. They are the keys of totals.
_FILLS = {"passed": "#2f9e44", "failed": "#e03131", "error": "#9c36b5", "measured": "#1c7ed6", "skipped": "#868e96", "not_judged": "#868e96", "not_run": "#adb5bd"}


def shown(run: Run) -> str:
    """The run as HTML. All text of runs is escaped."""
    figures = run._figures
    cases: dict[str, int] = figures["cases"]
    totals = run.task_totals
    missed = "".join(f"<li>{html.escape(it)}</li>" for it in run.missed)
    rest = f"<p>and {len(totals) - _MOST_TASKS} more tasks</p>" if len(totals) > _MOST_TASKS else ""
    return (
        f'<div class="jurat-run"><p><b>{html.escape(figures["suite"])}</b> · {html.escape(run.id)}<br>{html.escape(run.decision)}</p>'
        f"{f'<ul>{missed}</ul>' if missed else ''}"
        f"<p>{_bar('cases', cases)} {_counted(cases)}<br>{_rate(run)}{_took(run)}</p>{_tasks(totals[:_MOST_TASKS])}{rest}</div>"
    )


def _rate(run: Run) -> str:
    if run.pass_rate is None:
        return "nothing was judged"
    ends = "" if run.interval is None else f" (95 % interval {run.interval[0]:.1%} – {run.interval[1]:.1%})"
    return f"pass rate {run.pass_rate:.1%}{ends}"


def _took(run: Run) -> str:
    answers, reused = run.answers
    cost = "" if run.cost_usd is None else f" · ${run.cost_usd:.6g}"
    return cost + (f" · {answers} responses, {reused} reused" if answers else "")


def _tasks(totals: list[dict[str, Any]]) -> str:
    head = "".join(f"<th>{it}</th>" for it in ("task", "kind", "results", "", "pass rate", "95 % interval", ""))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, totals))}</tbody></table>"


def _row(total: dict[str, Any]) -> str:
    task, rate, interval = str(total["task"]), total["pass_rate"], total["interval"]
    gate = "" if total["is_counted"] else " (gate)"
    ends = "" if interval is None else f"{interval[0]:.1%} – {interval[1]:.1%}"
    return (
        f'<tr><td style="text-align:left">{html.escape(task)}{gate}</td><td>{html.escape(total["kind"])}</td>'
        f'<td>{_bar(task, total)}</td><td style="text-align:left">{_counted(total)}</td>'
        f"<td>{'' if rate is None else f'{rate:.1%}'}</td><td>{ends}</td><td>{_interval(task, rate, interval)}</td></tr>"
    )


def _counted(totals: dict[str, Any]) -> str:
    return ", ".join(f"{totals[it]} {it.replace('_', ' ')}" for it in _FILLS if totals.get(it)) or "none"


def _bar(name: str, totals: dict[str, Any]) -> str:
    """How many ended how, as parts of one bar."""
    parts = [(it, totals[it]) for it in _FILLS if totals.get(it)]
    whole, left, rects = sum(n for _, n in parts) or 1, 0.0, ""
    for verdict, n in parts:
        width = _WIDTH * n / whole
        rects += f'<rect x="{left:.1f}" y="0" width="{width:.1f}" height="{_HEIGHT}" fill="{_FILLS[verdict]}"/>'
        left += width
    return _svg(f"{name}: {_counted(totals)}", rects)


def _interval(name: str, rate: float | None, interval: tuple[float, float] | None) -> str:
    """A pass rate as a mark on a line from 0 to 100 %, with its interval."""
    if rate is None:
        return ""
    middle, room = _HEIGHT / 2, _WIDTH - 4

    def x(value: float) -> float:
        return 2 + room * value

    line = f'<line x1="2" y1="{middle}" x2="{_WIDTH - 2}" y2="{middle}" stroke="currentColor" stroke-opacity="0.3"/>'
    ends = "" if interval is None else f", 95 % interval {interval[0]:.1%} to {interval[1]:.1%}"
    bar = ""
    if interval is not None:
        width = max(1.0, x(interval[1]) - x(interval[0]))
        bar = f'<rect x="{x(interval[0]):.1f}" y="{middle - 2}" width="{width:.1f}" height="4" rx="2" fill="currentColor" fill-opacity="0.45"/>'
    mark = f'<rect x="{x(rate) - 1.5:.1f}" y="0" width="3" height="{_HEIGHT}" rx="1" fill="currentColor"/>'
    return _svg(f"{name}: {rate:.1%}{ends}", line + bar + mark)


def _svg(said: str, content: str) -> str:
    # The title is what those hear who do not see the picture.
    return (
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" style="vertical-align:middle">'
        f"<title>{html.escape(said)}</title>{content}</svg>"
    )
