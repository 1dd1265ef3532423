"""Conversations along a graph, and what is concluded about them.

>>> from jurat.scenario import END, Question, Scenario
>>> scenario = Scenario("greeting")
>>> scenario.add_node("hello", question=Question("Hello?", "Hello."))
>>> scenario.add_edge("hello", END)
>>> scenario.set_entry("hello")
>>> scenario.validate().entry_node
'hello'
"""

from jurat.scenario.builder import (
    Scenario,
    ScenarioDefinition,
    ScenarioEdge,
    ScenarioNode,
    ScenarioOutcomeCriterion,
)
from jurat.scenario.end import END
from jurat.scenario.nodes import *  # noqa: F403
from jurat.scenario.nodes import __all__ as _nodes
from jurat.scenario.primitives import *  # noqa: F403
from jurat.scenario.primitives import __all__ as _primitives
from jurat.scenario.question import ModelOverride, Question, ToolFilter, ToolRef
from jurat.scenario.result import ScenarioExecutionResult, TurnRecord, evaluate_outcome
from jurat.scenario.state import ScenarioState, StateCheck
from jurat.scenario.sugar import *  # noqa: F403
from jurat.scenario.sugar import __all__ as _sugar

__all__ = [  # noqa: PLE0604
    "END",
    "ModelOverride",
    "Question",
    "Scenario",
    "ScenarioDefinition",
    "ScenarioEdge",
    "ScenarioExecutionResult",
    "ScenarioNode",
    "ScenarioOutcomeCriterion",
    "ScenarioState",
    "StateCheck",
    "ToolFilter",
    "ToolRef",
    "TurnRecord",
    "evaluate_outcome",
]
__all__ += _nodes + _primitives + _sugar
