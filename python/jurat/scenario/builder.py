"""Building scenarios, and what is built."""

from __future__ import annotations

import copy
import html
import json
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from jurat import _jurat
from jurat._called import compiled, is_known_elsewhere, n_positional, source_of, then
from jurat._warned import warn
from jurat.errors import ScenarioError
from jurat.scenario.end import END
from jurat.scenario._frozen import FrozenDict, frozen
from jurat.scenario.nodes import node_of
from jurat.scenario.question import ModelOverride, Question, ToolFilter
from jurat.scenario.result import ScenarioExecutionResult
from jurat.scenario.state import ScenarioState, StateCheck

if TYPE_CHECKING:
    from jurat._options import RunOptions, Unpack
    from jurat.run import Run
    from jurat.scenario.nodes import OutcomeNode
    from jurat.suite import Model, Suite

__all__ = ["Scenario", "ScenarioDefinition", "ScenarioEdge", "ScenarioNode", "ScenarioOutcomeCriterion"]

#: A method of a builder, with what it was called with.
Step: TypeAlias = "tuple[str, tuple[Any, ...], dict[str, Any]]"

#: Code of a scenario: it takes what was accumulated and what was read from the answer, or the whole state. The two have different numbers of parameters, so
#: that type checkers know what those of a lambda are.
Code: TypeAlias = "Callable[[dict[str, Any], dict[str, Any]], Any] | Callable[[ScenarioState], Any]"

When: TypeAlias = "None | Mapping[str, Any] | Sequence[Mapping[str, Any] | StateCheck] | StateCheck | str | Code"


@dataclass(frozen=True)
class ScenarioOutcomeCriterion:
    """Something that is concluded about a whole scenario: by a check, or by code where checks do not say enough.

    The source of code is for display. It is found here where it is not given, and a definition that was read from JSON has it without the code.
    """

    name: str
    description: str = ""
    check: OutcomeNode | None = None
    evaluate: Callable[[ScenarioExecutionResult], bool | int | float | Awaitable[bool | int | float]] | None = None
    evaluate_source: str | None = None

    def __post_init__(self) -> None:
        if self.evaluate is not None and self.evaluate_source is None:
            object.__setattr__(self, "evaluate_source", source_of(self.evaluate))


@dataclass(frozen=True)
class ScenarioEdge:
    """From a node to the next, or to `END`. Without a condition it is the way that is left when no other is."""

    source: str
    target: str
    condition: Any = None
    condition_source: str | None = None
    handover: str | None = None


@dataclass(frozen=True)
class ScenarioNode:
    """One turn of the conversation."""

    node_id: str
    question: dict[str, Any]
    metadata: dict[str, Any]
    state_update_source: str | None = None


class Scenario:
    """Builds a conversation along a graph. Nodes, edges and outcomes come in any order; `validate` says whether they fit together.

    >>> from jurat.scenario import END, Question, Scenario, all_turns
    >>> scenario = Scenario("capital", description="Does a right answer stay?")
    >>> scenario.add_node("ask", question=Question("What is the capital of Australia?", "Canberra"))
    >>> scenario.add_node("doubt", question=Question("Is it not Sydney?", "Canberra"))
    >>> scenario.add_edge("ask", "doubt", when={"verify_result": True})
    >>> scenario.add_edge("ask", END)
    >>> scenario.set_entry("ask")
    >>> scenario.add_outcome("stays", all_turns(verify_result=True))
    >>> definition = scenario.validate()
    >>> definition.node_ids
    ['ask', 'doubt']
    >>> definition.run(subject=lambda question: "Canberra").outcome_results
    {'stays': True}
    """

    def __init__(self, name: str, description: str = "", **settings: Any) -> None:
        self.name = name
        self.description = description
        self._builder = _jurat.ScenarioBuilder(name, description)
        self._questions: dict[str, Question] = {}
        self._outcome_criteria: list[ScenarioOutcomeCriterion] = []
        self._settings = settings
        self._steps: list[Step] = []
        if settings:
            known = ("system", "turn_limit", "turn_timeout", "timeout", "tags", "tools")
            unknown = [it for it in settings if it not in known]
            if unknown:
                raise ScenarioError(f"a scenario has no setting `{unknown[0]}`; it has {', '.join(known)}")
            self._builder.set(settings)

    def add_node(
        self,
        node_id: str,
        *,
        question: Question,
        model_override: ModelOverride | Mapping[str, str] | None = None,
        tool_filter: ToolFilter | Mapping[str, Any] | None = None,
        state_update: Code | str | None = None,
        agent_identity: str | None = None,
        **metadata: Any,
    ) -> None:
        """Adds a node. The question is copied: what happens to it later does not change the scenario.

        `state_update` is called after each turn with what was accumulated and what was read from the answer, and returns what is accumulated from
        then on; source text is compiled here.
        """
        if not isinstance(question, Question):
            raise ScenarioError(
                f"the question of `{node_id}` is a `{type(question).__name__}`; give a `Question(question, raw_answer)`, which says what would be right"
            )
        copied = copy.deepcopy(question)
        node: dict[str, Any] = {"node_id": node_id, "question": copied.stored(), **copied.beside()}
        if model_override is not None:
            node["model_override"] = model_override.stored() if isinstance(model_override, ModelOverride) else dict(model_override)
        if tool_filter is not None:
            node["tool_filter"] = tool_filter.stored() if isinstance(tool_filter, ToolFilter) else dict(tool_filter)
        if agent_identity is not None:
            node["agent_identity"] = agent_identity
        if metadata:
            node["metadata"] = metadata
        if state_update is None:
            self._builder.add_node(node_id, node)
        else:
            function, source = _code(state_update, f"`state_update` of `{node_id}`")
            self._builder.add_node(node_id, node, (_update(function), source))
        self._questions[node_id] = copied
        self._step(
            "add_node",
            node_id,
            question=copied,
            model_override=model_override,
            tool_filter=tool_filter,
            state_update=state_update,
            agent_identity=agent_identity,
            **metadata,
        )

    def add_edge(
        self, source: str, target: str, *, when: When = None, handover: str | Callable[..., Any] | None = None
    ) -> None:
        """Adds an edge. Of those with a condition the first that holds is taken, else the one without.

        A condition is a dict with one field and what it must be, a list of such, which must all hold, a `StateCheck`, or a function of what was
        accumulated and what was read from the answer, or of the whole state; source text is compiled here.
        """
        given = _handover(handover) if callable(handover) else handover
        if not (given is None or isinstance(given, str) or callable(given)):
            raise ScenarioError(f"a handover is the name of one, or a function, not `{type(given).__name__}`")
        if callable(when) or isinstance(when, str):
            function, text = _code(when, f"`when` of the edge `{source} -> {target}`")
            self._builder.add_edge(source, target, when=(_condition(function), text), handover=given)
        else:
            self._builder.add_edge(source, target, when=_stored(when), handover=given)
        self._step("add_edge", source, target, when=when, handover=handover)

    def set_entry(self, node_id: str) -> None:
        """Says which node it starts with."""
        self._builder.set_entry(node_id)
        self._step("set_entry", node_id)

    def add_outcome(self, name: str, check: OutcomeNode, *, description: str = "") -> None:
        """Adds what is concluded about the whole, as a check."""
        self.add_outcome_criterion(ScenarioOutcomeCriterion(name=name, description=description, check=check))

    def add_outcome_criterion(self, criterion: ScenarioOutcomeCriterion) -> None:
        """Adds what is concluded about the whole, with everything to it."""
        if criterion.check is not None:
            self._builder.add_outcome(criterion.name, criterion.description, check=criterion.check.stored())
        elif criterion.evaluate is not None:
            code = (_outcome(criterion.evaluate), criterion.evaluate_source or "")
            self._builder.add_outcome(criterion.name, criterion.description, evaluate=code)
        else:
            raise ScenarioError(f"the outcome `{criterion.name}` has neither `check` nor `evaluate`: nothing decides it")
        self._outcome_criteria.append(criterion)
        self._step("add_outcome_criterion", criterion)

    def _step(self, method: str, *args: Any, **kwargs: Any) -> None:
        """Keeps a step that was taken: what is built goes to other processes as the steps that built it."""
        self._steps.append((method, args, kwargs))

    def validate(self) -> ScenarioDefinition:
        """The scenario, frozen. What does not fit together is a `ValueError`.

        What is probably a mistake is a `PlanWarning`, which is a `UserWarning`: a second edge without a condition, a condition on a field that the state never
        has, an outcome about a node that does not exist.
        """
        built, odd = self._builder.validate()
        # A second outcome would take the place of the first.
        twice = [words for name, words in odd if name == "duplicate_outcome"]
        if twice:
            raise ScenarioError("\n".join(twice))
        warn(words for _, words in odd)
        plan = _Steps(self.name, self.description, dict(self._settings), tuple(self._steps))
        return ScenarioDefinition._of(built, tuple(self._outcome_criteria), plan)

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {len(self._questions)} nodes>"


@dataclass(frozen=True, repr=False)
class ScenarioDefinition:
    """A scenario that fits together. It does not change any more."""

    name: str
    description: str
    nodes: dict[str, ScenarioNode]
    edges: tuple[ScenarioEdge, ...]
    entry_node: str
    outcome_criteria: tuple[ScenarioOutcomeCriterion, ...]
    metadata: dict[str, Any]
    _scenario: _jurat.Scenario
    #: How it was built; `None` when it was read from a checkpoint.
    _plan: _Steps | None = None

    @classmethod
    def _of(
        cls, built: _jurat.Scenario, criteria: tuple[ScenarioOutcomeCriterion, ...] | None = None, plan: _Steps | None = None
    ) -> ScenarioDefinition:
        stored = built.stored()
        stored = frozen(stored)
        nodes = FrozenDict(
            {
                id: ScenarioNode(id, it["question"], it["metadata"], it["state_update_source"])
                for id, it in stored["nodes"].items()
            }
        )
        edges = tuple(
            ScenarioEdge(it["source"], it["target"], it["condition"], it["condition_source"], it["handover"])
            for it in stored["edges"]
        )
        found = tuple(map(_criterion, stored["outcome_criteria"])) if criteria is None else criteria
        return cls(
            stored["name"], stored["description"], nodes, edges, stored["entry_node"], found, stored["metadata"], built, plan
        )

    @property
    def node_ids(self) -> list[str]:
        """The ids of its nodes, in the order in which they were added."""
        return list(self.nodes)

    @staticmethod
    def from_checkpoint(text: str) -> list[ScenarioDefinition]:
        """Reads scenarios from a checkpoint, or from the dump of one. Text of code is stored and never run: outcomes show it as `evaluate_source`."""
        return [ScenarioDefinition._of(it) for it in _jurat.read_checkpoint(text)]

    def to_checkpoint(self) -> dict[str, Any]:
        """The scenario as a checkpoint with nothing else. Code is written as its text."""
        return self._scenario.checkpoint()

    def to_dict(self) -> dict[str, Any]:
        """The scenario as it is stored. Code is written as its text."""
        return self._scenario.stored()

    def run(
        self, *, subject: str | Model, parser: str | Model | None = None, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> ScenarioExecutionResult:
        """Talks to a model along the graph, and returns what happened. `parser` reads and rates answers, where that needs a model.

        With `repeat` it is the result of the first conversation; `result.run` has all of them, a case for each.
        """
        return self._result(self._suite(subject, parser).run(progress=progress, **options))

    async def run_async(
        self, *, subject: str | Model, parser: str | Model | None = None, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> ScenarioExecutionResult:
        """The same in an event loop, which is not blocked, and on which coroutines are awaited."""
        return self._result(await self._suite(subject, parser).run_async(progress=progress, **options))

    def _suite(self, subject: str | Model, parser: str | Model | None) -> Suite:
        from jurat.suite import Suite

        models: dict[str, str | Model] = {"subject": subject}
        if parser is not None:
            models["parser"] = parser
        return Suite._quiet({}, name=self.name, models=models, scenarios=[self])

    def _result(self, run: Run) -> ScenarioExecutionResult:
        execution = next(iter(run)).execution
        if execution is None:
            raise ScenarioError(f"the scenario `{self.name}` was not run: {run.stopped}")
        execution.run = run
        return execution

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # It goes to other processes as what it was made from, and is made anew there.
        if self._plan is None:
            return _read_back, (json.dumps(self.to_checkpoint()),)
        self._plan.refuse_code_without_a_name()
        return _built_again, (self._plan,)

    def __repr__(self) -> str:
        return f"<ScenarioDefinition {self.name}: {len(self.nodes)} nodes, {len(self.edges)} edges>"

    def _graph(self) -> str:
        return self._suite(_silent, _silent).plan().svg

    def _repr_html_(self) -> str:
        row = "<tr><td>{}</td><td>{}</td><td>{}</td></tr>"
        shown = [
            row.format(html.escape(it.source), "end" if it.target == END else html.escape(it.target), html.escape(_when(it)))
            for it in self.edges
        ]
        head = f"<b>{html.escape(self.name)}</b> starts at {html.escape(self.entry_node)}"
        return f"<div>{self._graph()}{head}<table><tr><th>from</th><th>to</th><th>when</th></tr>{''.join(shown)}</table></div>"


@dataclass(frozen=True)
class _Steps:
    """How a scenario was built: what it was made with, and the steps in their order."""

    name: str
    description: str
    settings: dict[str, Any]
    steps: tuple[Step, ...]

    def refuse_code_without_a_name(self) -> None:
        """What has no name is reported here, where it is known what it is for."""
        for method, args, kwargs in self.steps:
            named = {"state_update": kwargs.get("state_update"), "when": kwargs.get("when"), "handover": kwargs.get("handover")}
            if method == "add_outcome_criterion":
                named["evaluate"] = args[0].evaluate
            for what, code in named.items():
                if callable(code) and not is_known_elsewhere(code):
                    where = " -> ".join(it.name if isinstance(it, ScenarioOutcomeCriterion) else str(it) for it in args)
                    raise ScenarioError(
                        f"the scenario `{self.name}` cannot be pickled: `{what}` of `{where}` is a function that other processes cannot find by its"
                        " name; define it at the top of a module, or give its source as text"
                    )


def _built_again(plan: _Steps) -> ScenarioDefinition:
    scenario = Scenario(plan.name, plan.description, **plan.settings)
    for method, args, kwargs in plan.steps:
        getattr(scenario, method)(*args, **kwargs)
    with warnings.catch_warnings():
        # The first build reported it.
        warnings.simplefilter("ignore")
        return scenario.validate()


def _silent(_: Any) -> str:
    return ""


def _criterion(stored: Mapping[str, Any]) -> ScenarioOutcomeCriterion:
    """A criterion that was read back: its check as an object, or the source of its code."""
    check = None if stored["check"] is None else node_of(stored["check"])
    return ScenarioOutcomeCriterion(stored["name"], stored["description"], check, None, stored["evaluate_source"])


def _read_back(checkpoint: str) -> ScenarioDefinition:
    (scenario,) = ScenarioDefinition.from_checkpoint(checkpoint)
    return scenario


def _when(edge: ScenarioEdge) -> str:
    if edge.condition_source is not None:
        return edge.condition_source
    return "otherwise" if edge.condition is None else str(edge.condition)


def _code(code: Callable[..., Any] | str, what: str) -> tuple[Callable[..., Any], str]:
    return (compiled(code, what), code) if isinstance(code, str) else (code, source_of(code))


def _stored(when: Any) -> Any:
    if isinstance(when, StateCheck):
        return when.stored()
    if isinstance(when, (list, tuple)):
        return [_stored(it) for it in when]
    return when


def _condition(function: Callable[..., Any]) -> Callable[[dict[str, Any]], bool]:
    if n_positional(function) >= 2:
        return lambda names: then(function(names["accumulated"], names["parsed"]), bool)
    return lambda names: then(function(ScenarioState(names["state"])), bool)


def _update(function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    takes_parsed = n_positional(function) >= 2

    def call(names: dict[str, Any]) -> Any:
        accumulated = names["accumulated"]
        returned = function(accumulated, names["parsed"]) if takes_parsed else function(accumulated)
        # A function that changes what it was given and returns nothing means what it changed.
        return then(returned, lambda it: accumulated if it is None else it)

    return call


def _outcome(function: Callable[[ScenarioExecutionResult], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda names: function(ScenarioExecutionResult.from_evidence(names["result"]))


def _handover(function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda names: function(names["log"], ScenarioState(names["state"]))
