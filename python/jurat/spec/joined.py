"""Parts joined to a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from jurat import agents as functions
from jurat._part import plain
from jurat.scenario import ScenarioDefinition
from jurat.spec.sections import Agent, AgentCase, Ask, Model, Thresholds
from jurat.spec.tasks import Task
from jurat.suite import Model as Function
from jurat.suite import Suite

__all__ = ["suite"]


def suite(
    tasks: Sequence[Task | Mapping[str, Any]] = (),
    *,
    name: str = "suite",
    records: str | PathLike[str] | Sequence[Any] | Mapping[str, Any] | None = None,
    ask: Ask | None = None,
    scenarios: Sequence[ScenarioDefinition] = (),
    agents: Mapping[str, Agent | functions.Agent] | None = None,
    cases: Sequence[AgentCase] = (),
    models: Mapping[str, str | Model | Mapping[str, Any] | Function] | None = None,
    thresholds: Thresholds | None = None,
    gates: Mapping[str, Any] | None = None,
    group_by: Sequence[str] = (),
    cluster_by: str | None = None,
    question: Sequence[str] = (),
    dimensions: Sequence[str] = (),
    directory: str | PathLike[str] = ".",
) -> Suite:
    """Joins parts to a suite.

    Args:
        tasks: What is judged.
        name: Its name.
        records: Its rows, or the file that has them, relative to `directory`; default: they are given when it is run.
        ask: What a model is asked about each row; default: the rows hold what is judged.
        scenarios: Conversations that are held.
        agents: The agents of `cases`, by name: programs, or functions of this program.
        cases: Tasks for agents.
        models: The models of roles: `provider/model`, a `Model`, or a function.
        thresholds: What a run must reach to pass.
        gates: What a change must not do, for `jurat gate`, with the keys of suites: `{"conditions": [{"id": "quality", "not_worse": 0.03}]}`.
        group_by: Fields of the rows by whose values results are summed up.
        cluster_by: The path of what rows share, such as a document; intervals, comparisons and gates take rows with one value there for one cluster.
        question: Paths of a row that are the question; comparisons of runs leave out rows in which they differ.
        dimensions: Names of dimensions of your own.
        directory: Where files that it names are looked for.

    Returns:
        The suite, ready to run.

    Raises:
        SuiteError: Something does not fit together.

    Example:
        >>> from jurat.spec import Assertion, compare, suite
        >>> greets = suite([Assertion("greets", "answer", compare.starts_with("Hello"))], name="greetings")
        >>> greets.run([{"answer": "Hello!"}]).pass_rate
        1.0
    """
    functions_of = {key: it for key, it in (agents or {}).items() if callable(it)}
    sections = {
        "records": records if records is None or not isinstance(records, PathLike) else str(records),
        "ask": ask,
        "agents": {key: it for key, it in (agents or {}).items() if key not in functions_of} or None,
        "cases": list(cases) or None,
        "thresholds": thresholds,
        "gates": gates,
        "group_by": list(group_by) or None,
        "cluster_by": cluster_by,
        "question": list(question) or None,
        "dimensions": list(dimensions) or None,
        "tasks": list(tasks) or None,
    }
    definition = {key: plain(it) for key, it in sections.items() if it is not None}
    given = {key: it if callable(it) else plain(it) for key, it in (models or {}).items()}
    return Suite(definition, name=name, directory=directory, models=given, scenarios=scenarios, agents=functions_of)

