"""Lines and changed cases of a comparison as rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jurat._frames import Column
from jurat._reading import Interval

if TYPE_CHECKING:
    from jurat._changes import CaseChange
    from jurat._lines import Line
    from jurat.comparison import Contrast

__all__ = ["CASE_COLUMNS", "LINE_COLUMNS", "case_row", "line_row"]

LINE_COLUMNS = [
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


def line_row(contrast: Contrast, line: Line) -> tuple[Any, ...]:
    """A line as a row."""
    interval = line.interval or Interval(None, None)
    moved = line.moved
    better, same, worse = (moved.better, moved.same, moved.worse) if moved else (None, None, None)
    return (
        *(contrast.base, contrast.new, line.about, line.name, line.task, line.path, line.value, line.of),
        *(line.pairs, line.clusters, line.base, line.new, line.difference, line.ratio, interval.low, interval.high, line.p, line.q),
        *(better, same, worse, line.unknown, line.least, line.most, line.robust, line.mde, line.d_z, line.rank_biserial),
        *(line.word, list(line.marks)),
    )


CASE_COLUMNS = [
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


def case_row(contrast: Contrast, case: CaseChange) -> tuple[Any, ...]:
    """A changed case as a row."""
    base, new = case.base, case.new
    return (
        *(contrast.base, contrast.new, case.id, case.prompt, case.subject, list(case.tasks), case.was, case.now, case.is_regression),
        *(base.passed, base.judged, new.passed, new.judged, case.p, case.likely, case.flaky_in_base, case.critical, case.same_answer),
        *(base.message, new.message, base.response, new.response),
    )
