"""The parts of a suite as classes, each with one meaning: what files have as keys, with types and completion.

>>> import jurat
>>> from jurat.spec import Assertion, Thresholds, compare
>>> polite = Assertion("polite", "output", compare.contains("please"))
>>> brief = Assertion("brief", "output", compare.has_length_less_than(20), depends_on=["polite"])
>>> run = jurat.evaluate(str.lower, ["Sit, PLEASE.", "Sit."], [polite, brief], thresholds=Thresholds(pass_rate=0.5))
>>> run.conclusion
'passed'

Tasks are `Assertion`, `Judge`, `Evaluate`, `Check`, `Outcome`, `Cel` and `Group`. A task with `gate` decides about those that depend on it. `compare` has a function for each
comparison and `check` one for each kind of check. `Thresholds`, `Model`, `Agent`, `AgentCase` and `Ask` are sections of a suite, `template` makes answer
templates of pydantic models, and `suite` joins all of them. Conversations along a graph are made with `jurat.scenario.Scenario`.
"""

from __future__ import annotations

from jurat.spec import check, compare
from jurat.spec.comparison import Comparison
from jurat.spec.joined import suite
from jurat.spec.sections import Agent, AgentCase, AgentLimits, Ask, Bound, Model, TaskThresholds, Thresholds
from jurat.spec.tasks import Assertion, Cel, Check, Evaluate, Group, Judge, Outcome, Task
from jurat.spec.templates import template

__all__ = [
    "Agent",
    "AgentCase",
    "AgentLimits",
    "Ask",
    "Assertion",
    "Bound",
    "Cel",
    "Check",
    "Comparison",
    "Evaluate",
    "Group",
    "Judge",
    "Model",
    "Outcome",
    "Task",
    "TaskThresholds",
    "Thresholds",
    "check",
    "compare",
    "suite",
    "template",
]
