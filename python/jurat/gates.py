"""Gates: whether a run may pass, by a policy that may compare it with another run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jurat._changes import Note, note
from jurat._documents import Documented
from jurat._reading import Interval
from jurat.errors import GateFailed

__all__ = ["Condition", "GateReport", "GateVerdict", "More"]

GateVerdict = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True)
class More:
    """What would probably decide a condition.

    Attributes:
        total: How many rows it takes.
        rows: How many of them are missing.
        calls: How many requests those would make.
        usd: What they would cost.
    """

    total: int | None
    rows: int | None
    calls: int | None
    usd: float | None


@dataclass(frozen=True, repr=False)
class Condition:
    """What one condition of a policy found.

    Attributes:
        id: The id of the condition.
        kind: What it measures, such as `not_worse`.
        selector: What it looks at: cases, a task, a slice.
        verdict: Whether it holds; `undecided` where there is not enough data to say.
        advisory: Whether it does not count.
        found: What was measured.
        bounds: What it may be in truth.
        wanted: The bound that it must keep.
        p_fail: How likely such data are for a value at the bound.
        p_fail_adjusted: The same, adjusted for the other conditions.
        least: What would have been found if everything unknown had gone against the run.
        most: What would have been found if everything unknown had gone for it.
        reason: Why it is not decided, in one word.
        sentence: All of it as a sentence.
        more: What would probably decide it.
    """

    id: str
    kind: str
    selector: str
    verdict: GateVerdict
    advisory: bool
    found: float | None
    bounds: Interval
    wanted: float
    p_fail: float | None
    p_fail_adjusted: float | None
    least: float | None
    most: float | None
    reason: str
    sentence: str
    more: More | None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {self.verdict}: {self.sentence}>"


@dataclass(frozen=True, repr=False)
class GateReport(Documented):
    """Whether a run may pass.

    Attributes:
        verdict: `pass`, `fail`, or `undecided` where there is not enough data to say.
        suite: The suite that was run.
        base: What the run was compared with.
        new: The run.
        confidence: The confidence of the policy.
        exit_code: What `jurat gate` would end with.
        conditions: What each condition found, in the order of the policy.
        notes: What else differs between the two runs.
        text: What `jurat gate` prints.
        markdown: The same as Markdown, for pull requests.
        json: The same as `jurat gate --json` writes it.
    """

    verdict: GateVerdict
    suite: str
    base: str | None
    new: str
    confidence: float
    exit_code: int
    conditions: tuple[Condition, ...]
    notes: tuple[Note, ...]
    text: str
    markdown: str
    json: str

    @property
    def passed(self) -> bool | None:
        """Whether the run may pass; `None` where that is undecided."""
        return {"pass": True, "fail": False}.get(self.verdict)

    def raise_for_failures(self, *, allow_undecided: bool = False) -> None:
        """Raises an exception where the gate did not pass.

        Args:
            allow_undecided: Whether a gate without enough data to decide is let through.

        Raises:
            GateFailed: It did not pass. It is an `AssertionError`, with what each condition found.
        """
        if self.verdict == "fail" or (self.verdict == "undecided" and not allow_undecided):
            raise GateFailed(self.text.rstrip(), self)

    def __repr__(self) -> str:
        found = ", ".join(f"{it.id} {it.verdict}" for it in self.conditions)
        return f"<{type(self).__name__} {self.new}: {self.verdict} ({found})>"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{html.escape(it.id)}</td><td>{it.verdict}</td><td style='text-align:left'>{html.escape(it.sentence)}</td></tr>"
            for it in self.conditions
        )
        head = "".join(f"<th>{it}</th>" for it in ("condition", "verdict", "found"))
        return f"<p><b>{html.escape(self.new)}: {self.verdict}</b></p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def read(json_text: str, text: str, markdown: str) -> GateReport:
    """A report from the documents that the engine writes."""
    import json

    document = json.loads(json_text)
    return GateReport(
        verdict=document["verdict"],
        suite=document["suite"],
        base=document["base"],
        new=document["new"],
        confidence=document["confidence"],
        exit_code=document["exit_code"],
        conditions=tuple(map(_condition, document["conditions"])),
        notes=tuple(map(note, document.get("notes", ()))),
        text=text,
        markdown=markdown,
        json=json_text,
    )


def _condition(members: dict[str, Any]) -> Condition:
    names = [it for it in Condition.__dataclass_fields__ if it not in ("bounds", "more")]
    more = members["more"]
    return Condition(
        **{it: members[it] for it in names},
        bounds=Interval(members["bounds"]["low"], members["bounds"]["high"]),
        more=None if more is None else More(more["total"], more["rows"], more["calls"], more["usd"]),
    )
