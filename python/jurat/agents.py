"""Functions of this program that are agents: they are given a task and a workspace, and report what happened.

>>> import jurat
>>> from jurat.agents import AgentTask
>>> def writer(task: AgentTask) -> str:
...     (task.workspace / "report.md").write_text("three notes")
...     return "report.md is written"
>>> suite = jurat.Suite(
...     {
...         "cases": [{"id": "report", "task": "Write report.md.", "key_outputs": ["report.md"]}],
...         "tasks": [{"id": "written", "check": {"kind": "workspace_file_present", "relative_path": "report.md"}}],
...     },
...     agents={"writer": writer},
... )
>>> suite.run().passed
True
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from jurat._called import then

__all__ = ["Agent", "AgentTask"]


@dataclass(frozen=True)
class AgentTask:
    """The input of an agent in a turn."""

    #: The id of the case.
    case: str
    #: What it is to do.
    task: str
    #: Its workspace: what it leaves there is looked at.
    workspace: Path
    #: Which turn this is, from 0, and how many there are.
    turn: int
    turns: int
    #: What the conversation is known by: the same in all turns of a run.
    session: str
    #: The system prompt.
    system: str | None = None
    #: Its model, when the suite gives it one: `api`, `base_url`, `model` and `api_key`. Requests there are counted, limited and recorded.
    model: Mapping[str, str] | None = None


#: A function that is an agent. It returns its final message, a list of events, or a run artifact; or it yields events, and returns its final message. A coroutine or
#: an asynchronous generator too. Events are those of the runner `command`: `{"type": "tool_call", "name": "read", "arguments": {…}}`.
Agent: TypeAlias = Callable[[AgentTask], Any]


def run_by(function: Agent) -> Callable[[dict[str, Any]], Any]:
    """An agent as the engine calls it."""

    def call(asked: dict[str, Any]) -> Any:
        returned = function(AgentTask(**{**asked, "workspace": Path(asked["workspace"])}))
        if isinstance(returned, Generator):
            return _told(returned)
        if isinstance(returned, AsyncIterator):
            return _told_later(returned)
        return then(returned, _listed)

    return call


def _told(events: Generator[Any, Any, Any]) -> list[Any]:
    reported: list[Any] = []
    while True:
        try:
            reported.append(next(events))
        except StopIteration as end:
            if end.value is not None:
                reported.append({"type": "final", "text": str(end.value)})
            return reported


async def _told_later(events: AsyncIterator[Any]) -> list[Any]:
    return [it async for it in events]


def _listed(returned: Any) -> Any:
    return list(returned) if isinstance(returned, tuple) else returned
