"""Suites: definitions that are ready to run, built as objects or read from the files that the command reads."""

from __future__ import annotations

import html
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from jurat import _jurat
from jurat._called import settled
from jurat._running import awaited, finished
from jurat.errors import Problem
from jurat.rows import given
from jurat.run import Run

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    from jurat.scenario import ScenarioDefinition

    class RunOptions(TypedDict, total=False):
        """How a suite is run: the options of `jurat run`. Times are seconds."""

        directory: str | PathLike[str] | None
        models: Mapping[str, str]
        variables: Mapping[str, str]
        limit: int | None
        filter: str | None
        tags: Sequence[str]
        repeat: int | None
        concurrency: int | None
        budget_usd: float | None
        budget_tokens: int | None
        budget_calls: int | None
        timeout: float | None
        request_timeout: float | None
        fail_fast: bool
        fresh: bool
        max_age: float | None
        replay: str | PathLike[str] | None
        stream: bool
        keep_all: bool
        durable: bool
        unsafe_code: bool


__all__ = ["Model", "Question", "Reply", "Suite", "evaluate_batch"]

#: So many rows are all copied into the run.
_MOST_KEPT = 10_000

# Code of evaluators runs in interpreters of its own, apart from this one.
if sys.executable:
    _jurat.run_code_with(sys.executable)


@dataclass(frozen=True)
class Question:
    """What a function that plays a role is asked."""

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
    """What a function that plays a role answers, where text or an object do not say enough."""

    text: str | None = None
    json: Any = None
    refusal: str | None = None
    #: The tokens that it took, read and written.
    tokens: tuple[int, int] | None = None


#: A function that plays a role: from a question to text, an object, or a `Reply`; a coroutine too.
Model: TypeAlias = "Callable[[Question], str | Reply | Mapping[str, Any] | Awaitable[str | Reply | Mapping[str, Any]]]"


class Suite:
    """A definition without errors. What is wrong with one is told at once, as a `SuiteError`.

    The definition is what a file would hold, as a dict. Roles are played by `provider/model`, or by a function:

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
    ) -> None:
        self._made: tuple[Any, ...] = (_suite, dict(definition), name, directory, dict(models or {}), tuple(scenarios))
        written = dict(definition)
        functions: dict[str, Any] = {}
        roles = dict(written.pop("models", {}))
        for role, model in (models or {}).items():
            if callable(model):
                functions[role] = _asked(model)
                roles[role] = f"call/{role}"
            else:
                roles[role] = model
        if roles:
            written["models"] = roles
        if not scenarios and not any(it in written for it in ("records", "scenarios", "cases")):
            written["records"] = "-"
        self._asks = any(it in written for it in ("ask", "evaluators")) or any(
            "judge" in it for it in written.get("tasks", ()) if isinstance(it, Mapping)
        )
        built = [it._scenario for it in scenarios]
        self._suite = _jurat.Suite(name, written, directory=directory, functions=functions, scenarios=built)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Suite:
        """Reads a suite from a file of YAML or JSON, as the command does."""
        suite = cls.__new__(cls)
        suite._suite = _jurat.load_suite(path)
        suite._asks = True
        suite._made = (cls.load, path)
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
    def warnings(self) -> list[Problem]:
        """What does not keep it from running, but is probably a mistake."""
        return self._suite.warnings

    def plan(self) -> str:
        """What a run would do, in words."""
        return self._suite.plan()

    def run(
        self, rows: Iterable[Any] | Any | None = None, *, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> Run:
        """Runs it and waits for the end. Other threads go on meanwhile; Ctrl-C stops it, and running it again goes on.

        `rows` are for suites without rows of their own: a list, an iterator, a data frame, a table of Arrow. They are copied into the run where it asks
        models, and where there are 10,000 of them at most; else only those that do not pass are, unless `keep_all` says otherwise.
        """
        return Run(finished(self._started(rows, options), progress=progress))

    async def run_async(
        self, rows: Iterable[Any] | Any | None = None, *, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> Run:
        """The same in an event loop, which goes on meanwhile."""
        return Run(await awaited(self._started(rows, options), progress=progress))

    def _started(self, rows: Any, options: Mapping[str, Any], items: str | None = None) -> _jurat.Running:
        wanted = {key: dict(it) if isinstance(it, Mapping) else it for key, it in options.items()}
        if rows is None:
            return self._suite.start(wanted)
        # Rows that are in no file can be explained later only if they are copied; of very many, those that pass are not worth it.
        wanted.setdefault("keep_all", self._asks or (hasattr(rows, "__len__") and len(rows) <= _MOST_KEPT))
        if items is None:
            rows, items = given(rows)
        return self._suite.start(wanted, rows=rows, items=items)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # It goes to other processes as what it was made from, and is made anew there.
        made, *arguments = self._made
        return made, tuple(arguments)

    def __repr__(self) -> str:
        return f"<Suite {self.name}: {sum(map(len, self.stages))} tasks in {len(self.stages)} stages>"

    def _repr_html_(self) -> str:
        return f"<div>{self._suite.plan_svg()}<pre>{html.escape(self._suite.warning_text)}</pre></div>"


def evaluate_batch(suite: Suite, batch: Any, **options: Unpack[RunOptions]) -> Any:
    """Runs a suite over a batch of Arrow and returns what each task of each row came to, as a table of Arrow.

    It keeps nothing between calls, so that a distributed engine can call it wherever the rows are.
    """
    import tempfile

    if options.get("directory") is not None:
        return suite.run(batch, progress=False, **options).to_arrow()
    with tempfile.TemporaryDirectory(prefix="jurat-batch-") as directory:
        options["directory"] = directory
        return suite.run(batch, progress=False, **options).to_arrow()


def _suite(definition: Any, name: str, directory: Any, models: Any, scenarios: Any) -> Suite:
    return Suite(definition, name=name, directory=directory, models=models, scenarios=scenarios)


def _asked(function: Model) -> Callable[[dict[str, Any]], str | dict[str, Any]]:
    """A function as the engine calls it."""

    def call(question: dict[str, Any]) -> str | dict[str, Any]:
        answer = settled(function(Question(**question)))
        if isinstance(answer, str):
            return answer
        if isinstance(answer, Reply):
            fields = {"text": answer.text, "refusal": answer.refusal, "json": answer.json, "tokens": answer.tokens}
            return {key: it for key, it in fields.items() if it is not None}
        return {"json": answer}

    return call
