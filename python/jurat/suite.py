"""Suites: definitions that are ready to run, built as objects or read from the files that the command reads."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from jurat import _jurat, batches
from jurat._called import Caller, is_known_elsewhere, then
from jurat._options import RunOptions, Unpack
from jurat._resuming import digest_of
from jurat._running import awaited, finished
from jurat._sources import file_of
from jurat._warned import warn_of
from jurat.errors import Problem, UsageError
from jurat.rows import given, n_rows
from jurat.run import Run
from jurat.subject import Subject

if TYPE_CHECKING:
    from jurat.agents import Agent
    from jurat.evaluators import Evaluator
    from jurat.scenario import ScenarioDefinition

__all__ = ["Model", "Plan", "Question", "Reply", "Suite", "evaluate_batch"]

#: Up to this number, all rows are copied into the run.
_MOST_KEPT = 10_000

# Code of evaluators runs in interpreters of its own, apart from this one.
if sys.executable:
    _jurat.run_code_with(sys.executable)


@dataclass(frozen=True)
class Question:
    """What a function that is a model is asked."""

    #: The id of the case.
    case: str
    #: The id of the task that asks; `None` when the case asks its subject.
    task: str | None
    #: What is asked: the last message of the user.
    prompt: str
    #: The system message.
    system: str | None
    #: The whole conversation: who says what.
    messages: list[tuple[str, str]]
    #: The JSON Schema that the answer must have.
    schema: dict[str, Any] | None
    #: Which repetition of the same question this is, from 0.
    repetition: int


@dataclass(frozen=True)
class Reply:
    """What a function that is a model answers, where text or an object do not say enough."""

    text: str | None = None
    json: Any = None
    refusal: str | None = None
    #: The tokens that it took, read and written.
    tokens: tuple[int, int] | None = None


#: A function that is a model: from a question to text, an object, or a `Reply`; a coroutine too.
Model: TypeAlias = Callable[[Question], str | Reply | Mapping[str, Any] | Awaitable[str | Reply | Mapping[str, Any]]]


class Plan(str):
    """What a run would do, in words. In a notebook it is the graph of the tasks."""

    def __new__(cls, words: str, svg: str) -> Plan:
        plan = super().__new__(cls, words)
        plan.svg = svg
        return plan

    #: The graph, as SVG.
    svg: str

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return Plan, (str(self), self.svg)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<div>{self.svg}</div>"


class Suite:
    """A definition without errors. What is wrong with one is reported at once, as a `SuiteError`; what is probably a mistake, as a `PlanWarning`.

    The definition is what a file would hold, as a dict. The model of a role is `provider/model`, or a function; `evaluators` are functions that look at
    answers, `agents` functions that are given cases. All of them may be coroutines. Many calls wait at the same time, an exception in one is an error of what
    asked, and a replay makes none.

    Args:
        definition: What a file would hold. `jurat.spec.suite` makes one of typed parts.
        name: Its name.
        directory: Where files that it names are looked for.
        models: The models of roles: `provider/model`, a dict with settings, or a function from a `Question` to text, an object or a `Reply`.
        scenarios: Conversations that were made with `jurat.scenario`.
        evaluators: Functions that look at answers; tasks name them.
        agents: Functions that are given cases, by name.

    Raises:
        SuiteError: Something is wrong with the definition; the message says what, where, and what to do.

    Example:
        >>> import jurat
        >>> def judge(question: jurat.Question) -> dict[str, bool]:
        ...     return {"polite": "please" in question.prompt}
        >>> suite = jurat.Suite(
        ...     {"tasks": [{"id": "tone", "judge": {"prompt": "Is it polite? ${answer}", "output": {"polite": "boolean"}},
        ...                 "field_path": "polite", "operator": "equals", "expected_value": True}]},
        ...     models={"judge": judge},
        ... )
        >>> suite.stages
        [['tone']]
        >>> suite.run([{"answer": "Sit down, please."}, {"answer": "Sit."}]).pass_rate
        0.5
    """

    def __init__(
        self,
        definition: Mapping[str, Any],
        *,
        name: str = "suite",
        directory: str | PathLike[str] = ".",
        models: Mapping[str, str | Mapping[str, Any] | Model] | None = None,
        scenarios: Sequence[ScenarioDefinition] = (),
        evaluators: Sequence[Evaluator | Callable[..., Any]] = (),
        agents: Mapping[str, Agent] | None = None,
    ) -> None:
        self._build(definition, name, directory, models, scenarios, evaluators, agents)
        warn_of(self.problems)

    def _build(
        self,
        definition: Mapping[str, Any],
        name: str,
        directory: str | PathLike[str],
        models: Mapping[str, str | Mapping[str, Any] | Model] | None,
        scenarios: Sequence[ScenarioDefinition],
        evaluators: Sequence[Evaluator | Callable[..., Any]],
        agents: Mapping[str, Agent] | None,
    ) -> None:
        given: dict[str, Any] = {"name": name, "directory": directory, "models": dict(models or {})}
        given |= {"scenarios": tuple(scenarios), "evaluators": tuple(evaluators), "agents": dict(agents or {})}
        self._made: tuple[Any, ...] = (_suite, dict(definition), given)
        written = dict(definition)
        code: dict[str, Any] = {
            "models": _models(written, models or {}),
            "evaluators": _evaluators(written, evaluators),
            "agents": _agents(written, agents or {}),
            "scenarios": [it._scenario for it in scenarios],
        }
        self._code = _named({**definition.get("models", {}), **(models or {})}, code["evaluators"], agents or {})
        if not scenarios and not any(it in written for it in ("records", "scenarios", "cases")):
            written["records"] = "-"
        self._asks = any(it in written for it in ("ask", "evaluators", "cases")) or any(
            "judge" in it for it in written.get("tasks", ()) if isinstance(it, Mapping)
        )
        self._has_other_cases = bool(scenarios) or any(it in written for it in ("ask", "scenarios", "cases"))
        self._suite = _jurat.Suite(name, written, directory=directory, code=code)

    @classmethod
    def _quiet(
        cls,
        definition: Mapping[str, Any],
        *,
        name: str = "suite",
        directory: str | PathLike[str] = ".",
        models: Mapping[str, str | Mapping[str, Any] | Model] | None = None,
        scenarios: Sequence[ScenarioDefinition] = (),
        evaluators: Sequence[Evaluator | Callable[..., Any]] = (),
        agents: Mapping[str, Agent] | None = None,
    ) -> Suite:
        """The same without warnings: for definitions that were built before, and warned of then."""
        suite = cls.__new__(cls)
        suite._build(definition, name, directory, models, scenarios, evaluators, agents)
        return suite

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, run_profile: str | None = None, evaluation_profile: str | None = None
    ) -> Suite:
        """Reads a suite from a file of YAML or JSON, as the command does.

        Args:
            path: The file.
            run_profile: How the cases of a campaign of personal_agent_eval are run: the name or the file of a profile.
            evaluation_profile: How they are judged, with the policy that allows Python hooks: the name or the file of a profile.

        Returns:
            The suite.

        Raises:
            SuiteError: Something is wrong with it.
            OSError: The file cannot be read.
        """
        suite = _loaded(path, run_profile, evaluation_profile)
        warn_of(suite.problems)
        return suite

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._suite.name

    @property
    def definition(self) -> str:
        """Its definition as a file would have it."""
        return self._suite.definition

    @property
    def stages(self) -> list[list[str]]:
        """The ids of the tasks, stage by stage: those of one stage depend on nothing but earlier ones."""
        return self._suite.stages

    @property
    def problems(self) -> list[Problem]:
        """What does not keep it from running, but is probably a mistake. The same is a `PlanWarning` when the suite is made."""
        return self._suite.warnings

    @property
    def warnings(self) -> list[Problem]:
        """The same as `problems`."""
        return self.problems

    def plan(self) -> Plan:
        """What a run would do.

        Returns:
            Words, which a notebook shows as a graph.

        Raises:
            SuiteError: A model, a file or a program that it needs is not there.
        """
        return Plan(self._suite.plan(), self._suite.plan_svg())

    def run(
        self, rows: Iterable[Any] | Any | None = None, *, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> Run:
        """Runs it and waits for the end. Other threads run meanwhile; Ctrl-C stops it, and running it again resumes it.

        Args:
            rows: For suites without rows of their own: a list, an iterator, columns by name, a data frame, a table of Arrow, a path. They are copied into the
                run where it asks models, and where there are 10,000 of them at most; else only those that do not pass are, unless `keep_all` says otherwise.
            progress: Whether progress is shown; default: on a terminal and in a notebook.
            **options: How it is run.

        Returns:
            The run.

        Raises:
            UsageError: Rows are missing, or an option means nothing.
            RunError: It could not be run, or its rows could not be read.
        """
        return Run(finished(self._started(rows, options, Caller()), progress=progress, total=self._total(rows, options)))

    async def run_async(
        self, rows: Iterable[Any] | Any | None = None, *, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> Run:
        """The same in an event loop, which is not blocked. Coroutines are awaited on that loop, with the context variables of the caller.

        Args:
            rows: As for `run`.
            progress: As for `run`.
            **options: How it is run.

        Returns:
            The run.

        Raises:
            UsageError: As for `run`.
            RunError: As for `run`.
        """
        import asyncio

        caller = Caller(asyncio.get_running_loop())
        return Run(await awaited(self._started(rows, options, caller), progress=progress, total=self._total(rows, options)))

    def evaluator(
        self,
        *,
        layout: batches.Layout = "cases",
        id: str | None = None,
        carry: Sequence[str] | Any = (),
        keep: batches.Keep = "failed",
        journal: str | PathLike[str] | None = None,
        coordinator: str | None = None,
        strings: bool = False,
        **options: Unpack[RunOptions],
    ) -> batches.Evaluator:
        """The suite over batches of Arrow, without a run: for engines that distribute rows.

        Args:
            layout: What a row of the results is: a case (`cases`), or a task of a case (`tasks`).
            id: The column that names rows; default: where the suite says, else `id`, `record_id` or `case_id`, else the content of the row.
            carry: The columns of rows that results have, too: names, or a `pyarrow.Schema` where the types have to be known before the first row.
            keep: Of which tasks results say what was expected and found: `failed` (those that failed, could not be judged or did not run), `all`, or `none`.
            journal: A directory of this machine whose journal (`.jurat/journal.db`) has paid answers and takes new ones, so that rows that are judged again
                are not paid for again; default: none.
            coordinator: The address of a `jurat.Coordinator`, which leases budget, requests in flight and rates to all processes; its token is in their environment. Default: none.
            strings: Whether verdicts are plain text; default: dictionaries.
            options: How models are asked: `models`, `variables`, `directory`, `repeat`, `concurrency`, `request_timeout`, `keep_going`, `fresh`, `max_age`,
                `stream`, `unsafe_code` and `unsafe_host`. Options of a run as a whole, such as budgets, are refused.

        Returns:
            An evaluator, which can be pickled.

        Raises:
            UsageError: The suite has rows of its own, its cases are no rows, or an option means nothing for batches.
            ModelError: A role has no model.
        """
        wanted = {"layout": layout, "keep": keep, "id": id, "strings": strings, "journal": journal, "coordinator": coordinator}
        return batches.evaluator(self, wanted, carry, options)

    def evaluate_batches(
        self,
        reader: Any,
        *,
        layout: batches.Layout = "cases",
        id: str | None = None,
        carry: Sequence[str] | Any = (),
        keep: batches.Keep = "failed",
        journal: str | PathLike[str] | None = None,
        coordinator: str | None = None,
        strings: bool = False,
        **options: Unpack[RunOptions],
    ) -> Any:
        """Judges a stream of Arrow while it is read: memory does not grow with it, and results come before it ends.

        Args:
            reader: A reader, a table, a data set's scanner, or anything else with a stream of Arrow.
            layout: As for `evaluator`.
            id: As for `evaluator`.
            carry: As for `evaluator`.
            keep: As for `evaluator`.
            journal: As for `evaluator`.
            coordinator: As for `evaluator`.
            strings: As for `evaluator`.
            options: As for `evaluator`.

        Returns:
            A reader of the results. Closing it ends the evaluation.

        Raises:
            UsageError: As for `evaluator`.
            ModelError: As for `evaluator`.

        Example:
            >>> import jurat, pyarrow
            >>> suite = jurat.Suite({"tasks": [{"id": "paid", "field_path": "status", "operator": "equals", "expected_value": "paid"}]})
            >>> rows = pyarrow.table({"id": ["r1", "r2"], "status": ["paid", "due"]})
            >>> with suite.evaluate_batches(rows) as results:
            ...     print(results.read_all().column("verdict").to_pylist())
            ['passed', 'failed']
        """
        made = self.evaluator(layout=layout, id=id, carry=carry, keep=keep, journal=journal, coordinator=coordinator, strings=strings, **options)
        return made.read(reader)

    def _total(self, rows: Any, options: Mapping[str, Any]) -> int | None:
        """How many cases there will be, where the number of rows is known: each is one, unless some are left out or asked about several times."""
        n, limit = n_rows(rows), options.get("limit")
        if n is None or self._has_other_cases or options.get("filter") or options.get("tags"):
            return None
        return n if limit is None else min(n, limit)

    def _started(self, rows: Any, options: Mapping[str, Any], caller: Caller, items: str | None = None) -> _jurat.Running:
        wanted = {key: dict(it) if isinstance(it, Mapping) else it for key, it in options.items()}
        file = file_of(rows)
        if file is not None:
            return self._over(file)._started(None, options, caller)
        if rows is None:
            return self._suite.start(wanted, caller=caller)
        # Rows that are in no file can be explained later only if they are copied; of very many, those that pass are not worth it.
        n = n_rows(rows)
        wanted.setdefault("keep_all", self._asks or (n is not None and n <= _MOST_KEPT))
        if items is None:
            if self._asks:
                wanted["rows_digest"] = digest_of(rows, self._code.values())
            rows, items = given(rows)
        return self._suite.start(wanted, rows=rows, items=items, caller=caller)

    def _over(self, file: str) -> Suite:
        """The same suite with the rows of a file."""
        made, *arguments = self._made
        if made is not _suite:
            raise UsageError(f"the suite `{self.name}` was read from a file, which names its rows; `records: {file}` there reads these")
        definition, given = arguments
        return Suite({**definition, "records": file}, **given)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # It goes to other processes as what it was made from, and is made anew there.
        for what, code in self._code.items():
            if not is_known_elsewhere(code):
                raise UsageError(
                    f"the suite `{self.name}` cannot be pickled: {what} is a function that other processes cannot find by its name; define it at the"
                    " top of a module"
                )
        made, *arguments = self._made
        return made, tuple(arguments)

    def __repr__(self) -> str:
        return f"<Suite {self.name}: {sum(map(len, self.stages))} tasks in {len(self.stages)} stages>"

    def _repr_html_(self) -> str:
        import html

        return f"<div>{self._suite.plan_svg()}<pre>{html.escape(self._suite.warning_text)}</pre></div>"


def evaluate_batch(suite: Suite, batch: Any, /, *, keep: batches.Keep = "failed", **options: Unpack[RunOptions]) -> Any:
    """Judges a batch of Arrow and returns the result of each task of each row, as a batch of pyarrow. Nothing is stored.

    It keeps nothing between calls, connections included: for many batches, `Suite.evaluator` does the same once.

    Args:
        suite: The suite.
        batch: A batch or a table of Arrow, a data frame, or columns by name.
        keep: As for `Suite.evaluator`.
        options: As for `Suite.evaluator`. With `directory`, paid answers are in the journal there.

    Returns:
        A batch with a row for each task of each row.

    Raises:
        UsageError: As for `Suite.evaluator`.
        ModelError: A model cannot be asked.
        RunError: The batch could not be judged to its end.
    """
    return suite.evaluator(layout="tasks", keep=keep, journal=options.get("directory"), **options)(batch)


def _suite(definition: Any, given: dict[str, Any]) -> Suite:
    return Suite._quiet(definition, **given)


def _loaded(path: str | PathLike[str], run_profile: str | None = None, evaluation_profile: str | None = None) -> Suite:
    suite = Suite.__new__(Suite)
    suite._suite = _jurat.load_suite(path, run_profile, evaluation_profile)
    suite._asks = True
    suite._has_other_cases = True
    suite._made = (_loaded, path, run_profile, evaluation_profile)
    suite._code = {}
    return suite


def _named(models: Mapping[str, Any], evaluators: Mapping[str, Any], agents: Mapping[str, Agent]) -> dict[str, Any]:
    """The functions of a suite, by what they are in words."""
    code = {f"the model of `{role}`": it for role, it in models.items() if callable(it)}
    code |= {f"the evaluator `{name}`": it.__self__ for name, it in evaluators.items()}
    return code | {f"the agent `{name}`": it for name, it in agents.items()}


def _models(written: dict[str, Any], models: Mapping[str, Any]) -> dict[str, Any]:
    """Puts models into a definition, and gives those that are functions."""
    roles = {**written.get("models", {}), **models}
    functions = {role: it.asked if isinstance(it, Subject) else _asked(it) for role, it in roles.items() if callable(it)}
    if roles:
        written["models"] = {role: f"call/{role}" if role in functions else it for role, it in roles.items()}
    return functions


def _evaluators(written: dict[str, Any], evaluators: Sequence[Evaluator | Callable[..., Any]]) -> dict[str, Any]:
    """Puts evaluators into a definition, and gives those that are functions: those that are given, and those that a task names."""
    known = written.get("evaluators", {})
    named = {name: it for name, it in known.items() if callable(it)} if isinstance(known, Mapping) else {}
    tasks = written.get("tasks", ())
    in_tasks = [it["evaluate"] for it in tasks if isinstance(it, Mapping) and callable(it.get("evaluate"))]
    if not (evaluators or named or in_tasks):
        return {}
    from jurat.evaluators import Evaluator, evaluator_of

    found = {name: Evaluator(it.function, name, it.outputs) for name, it in zip(named, map(evaluator_of, named.values()), strict=True)}
    for it in map(evaluator_of, evaluators):
        _add_evaluator(found, it)
    written["tasks"] = [_with_name(it, found) if isinstance(it, Mapping) and callable(it.get("evaluate")) else it for it in tasks]
    written["evaluators"] = {**known, **{name: it.called() for name, it in found.items()}}
    return {name: it.call for name, it in found.items()}


def _with_name(task: Mapping[str, Any], found: dict[str, Evaluator]) -> dict[str, Any]:
    """A task with the name of its evaluator, which is added to those that were found. A lambda has the name of its task."""
    from jurat.evaluators import Evaluator, evaluator_of

    evaluator = evaluator_of(task["evaluate"])
    known = found.get(evaluator.name)
    is_other = known is not None and known.function is not evaluator.function
    if "id" in task and (evaluator.is_anonymous or is_other):
        evaluator = Evaluator(evaluator.function, str(task["id"]), evaluator.outputs)
    _add_evaluator(found, evaluator)
    return {**task, "evaluate": evaluator.name}


def _add_evaluator(found: dict[str, Evaluator], evaluator: Evaluator) -> None:
    known = found.setdefault(evaluator.name, evaluator)
    if known.function is not evaluator.function:
        raise UsageError(f"two evaluators are called `{evaluator.name}`; give one of them another name")


def _agents(written: dict[str, Any], agents: Mapping[str, Agent]) -> dict[str, Any]:
    """Puts agents that are functions into a definition, and gives them."""
    if not agents:
        return {}
    from jurat.agents import run_by

    known = written.get("agents", {})
    written["agents"] = {**known, **{name: {**known.get(name, {}), "call": name} for name in agents}}
    return {name: run_by(it) for name, it in agents.items()}


def _asked(function: Model) -> Callable[[dict[str, Any]], Any]:
    """A function as the engine calls it."""

    return lambda question: then(function(Question(**question)), _answered)


def _answered(answer: Any) -> str | dict[str, Any]:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Reply):
        fields = {"text": answer.text, "refusal": answer.refusal, "json": answer.json, "tokens": answer.tokens}
        return {key: it for key, it in fields.items() if it is not None}
    return {"json": answer}
