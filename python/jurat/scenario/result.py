"""What happened in a conversation, and what is concluded from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jurat import _jurat
from jurat.scenario.state import ScenarioState

if TYPE_CHECKING:
    from jurat.run import Run
    from jurat.scenario.nodes import OutcomeNode

__all__ = ["ScenarioExecutionResult", "TurnRecord", "evaluate_outcome"]


@dataclass
class TurnRecord:
    """One turn: what was asked, what was answered, what was read from it, and whether it was right.

    `question_messages` is what was sent in this turn, `trace_messages` what followed: calls of tools with their results, and the answer. Messages are
    `{"role", "content"}`, as model providers have them.
    """

    node_id: str
    question_text: str = ""
    raw_response: str = ""
    verify_result: bool | None = None
    parsed_fields: dict[str, Any] = field(default_factory=dict)
    parsed_answer: Any = None
    question_messages: list[Any] = field(default_factory=list)
    trace_messages: list[Any] = field(default_factory=list)
    verification_result_id: str | None = None
    rubric: dict[str, Any] = field(default_factory=dict)
    failure: dict[str, Any] | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)

    def evidence(self) -> dict[str, Any]:
        """As checks see it."""
        return {
            "node_id": self.node_id,
            "question_text": self.question_text,
            "raw_response": self.raw_response,
            "verify_result": self.verify_result,
            "parsed": self.parsed_fields,
            "rubric": self.rubric,
            "failure": self.failure,
        }


@dataclass
class ScenarioExecutionResult:
    """What happened in a scenario: how it ended, which way it took, every turn, and the results of its outcomes.

    `final_state` is a `ScenarioState`, `turn_results` has what was concluded about each turn. `run` is the run that it is from; `None` inside the run.
    """

    scenario_id: str
    status: str = "completed"
    path: list[str] = field(default_factory=list)
    turn_count: int = 0
    history: list[TurnRecord] = field(default_factory=list)
    turn_results: list[Any] = field(default_factory=list)
    final_state: Any = None
    outcome_results: dict[str, bool | int | float] = field(default_factory=dict)
    outcome_errors: dict[str, str] = field(default_factory=dict)
    terminal_failure: dict[str, Any] | None = None
    replicate: int | None = None
    run: Run | None = field(default=None, compare=False, repr=False)

    def evidence(self) -> dict[str, Any]:
        """As checks see it."""
        return {
            "scenario_id": self.scenario_id,
            "status": self.status,
            "path": self.path,
            "turn_count": self.turn_count,
            "history": [it.evidence() for it in self.history],
            "final_state": dict(self.final_state) if isinstance(self.final_state, Mapping) else self.final_state,
            "outcome_results": self.outcome_results,
            "terminal_failure": self.terminal_failure,
            "replicate": self.replicate,
        }

    @classmethod
    def from_evidence(cls, evidence: Mapping[str, Any]) -> ScenarioExecutionResult:
        """The result of a scenario that was run."""
        state = evidence.get("final_state")
        return cls(
            scenario_id=evidence.get("scenario_id", ""),
            status=evidence.get("status", ""),
            path=list(evidence.get("path", ())),
            turn_count=evidence.get("turn_count", 0),
            history=[_turn(it) for it in evidence.get("history", ())],
            turn_results=[_concluded(it) for it in evidence.get("history", ())],
            final_state=ScenarioState(state) if isinstance(state, Mapping) else state,
            outcome_results=dict(evidence.get("outcome_results") or {}),
            outcome_errors=dict(evidence.get("outcome_errors") or {}),
            terminal_failure=evidence.get("terminal_failure"),
            replicate=evidence.get("replicate"),
        )


#: What is concluded about a turn, by the names that evidence has.
_CONCLUDED = ("node_id", "verify_result", "score", "judged_by", "fields", "parsed", "rubric", "rubric_errors", "failure", "usage", "cost_usd")


def _concluded(turn: Mapping[str, Any]) -> dict[str, Any]:
    return {name: turn[name] for name in _CONCLUDED if name in turn}


def _turn(turn: Mapping[str, Any]) -> TurnRecord:
    return TurnRecord(
        node_id=turn.get("node_id", ""),
        question_text=turn.get("question_text", ""),
        raw_response=turn.get("raw_response") or "",
        verify_result=turn.get("verify_result"),
        parsed_fields=dict(turn.get("parsed") or {}),
        parsed_answer=dict(turn["parsed"]) if turn.get("parsed") else None,
        question_messages=[{"role": "user", "content": turn.get("sent") or turn.get("question_text", "")}],
        trace_messages=_trace(turn),
        rubric=dict(turn.get("rubric") or {}),
        failure=turn.get("failure"),
        tool_calls=list(turn.get("tool_calls") or ()),
    )


def _trace(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What followed the question of a turn, as messages."""
    messages: list[dict[str, Any]] = []
    for call in turn.get("tool_calls") or ():
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "name": call.get("tool"), "content": call.get("output", "")})
    if turn.get("raw_response") is not None:
        messages.append({"role": "assistant", "content": turn["raw_response"]})
    return messages


def evaluate_outcome(check: OutcomeNode, result: ScenarioExecutionResult) -> bool | int | float:
    """The result of a check: true or false, or a number. What cannot be decided is an `OutcomeError`.

    >>> from jurat.scenario import ScenarioExecutionResult, TurnRecord, count_turns, evaluate_outcome
    >>> turns = [TurnRecord(node_id="ask", verify_result=it) for it in (True, False, True)]
    >>> evaluate_outcome(count_turns(verify_result=True), ScenarioExecutionResult("probe", turn_count=3, history=turns))
    2
    """
    return _jurat.evaluate_outcome(check.stored(), result.evidence())
