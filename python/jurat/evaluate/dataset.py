"""Records and tasks together, ready to be evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

from jurat._running import awaited, finished
from jurat.errors import UsageError
from jurat.evaluate.results import GenAIEvalResults
from jurat.evaluate.tasks import AssertionTask, EvaluatorTask, LLMJudgeTask, Task
from jurat._called import Caller
from jurat.evaluators import Evaluator, evaluator_of
from jurat.genai.settings import Roles
from jurat.queue import GenAIEvalRecord
from jurat.rows import given
from jurat.run import Run
from jurat.suite import Suite

if TYPE_CHECKING:
    from jurat import _jurat
    from jurat._jurat import Running
    from jurat._options import RunOptions, Unpack
    from jurat.suite import Model

__all__ = ["EvalDataset", "GenAIEvalDataset"]


class GenAIEvalDataset:
    """Records and the tasks that judge them. What is wrong with the tasks is reported at once. A function that looks at records is a task, too.

    Records are `GenAIEvalRecord`s, or whatever rows can be: dicts, an iterator, a data frame, a table of Arrow. An iterator is taken once,
    while the dataset is evaluated, and never held as a whole.
    """

    def __init__(
        self,
        records: Iterable[Any] | Any,
        tasks: Sequence[Task | Evaluator | Callable[..., Any]],
        *,
        name: str = "dataset",
        models: Mapping[str, str | Mapping[str, Any] | Model] | None = None,
    ) -> None:
        self.records = records
        self.tasks: list[Task] = [_task(it) for it in tasks]
        self._models = models
        roles = Roles("judge")
        written = [it.definition(roles) for it in self.tasks]
        ids = self._has_ids()
        self._items = None if ids is None else ("records_with_ids" if ids else "records")
        definition = {
            "records": {"path": "-", "id": '["@id"]'} if ids else "-",
            "models": roles.models,
            "tasks": written,
        }
        if not roles.models:
            del definition["models"]
        self.suite: Suite = Suite(definition, name=name, models=models)

    def _has_ids(self) -> bool | None:
        """Whether the records have ids; `None` when they are plain rows."""
        if not isinstance(self.records, (list, tuple)):
            return None
        are_records = [isinstance(it, GenAIEvalRecord) for it in self.records]
        if not any(are_records):
            return None if are_records else False
        if not all(are_records):
            raise UsageError("records are either all `GenAIEvalRecord`s or all plain rows")
        ids = [it.record_id for it in self.records]
        n_missing = ids.count("")
        if n_missing == len(ids):
            return False
        if n_missing:
            raise UsageError(f"{n_missing} of {len(ids)} records have no id; give all of them one, or none")
        if len(set(ids)) < len(ids):
            twice = next(it for it, n in Counter(ids).items() if n > 1)
            raise UsageError(f"several records have the id `{twice}`; results are found by it")
        return True

    @property
    def assertion_tasks(self) -> list[AssertionTask]:
        """The tasks that compare."""
        return [it for it in self.tasks if isinstance(it, AssertionTask)]

    @property
    def llm_judge_tasks(self) -> list[LLMJudgeTask]:
        """The tasks that ask."""
        return [it for it in self.tasks if isinstance(it, LLMJudgeTask)]

    def print_execution_plan(self) -> None:
        """Prints what an evaluation would do: tasks stage by stage, what leads to what, whom they ask."""
        print(self.suite.plan(), end="")

    def evaluate(
        self, config: object = None, *, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> GenAIEvalResults:
        """Judges all records and waits for the end. Other threads run meanwhile; Ctrl-C stops it."""
        running = self._started(config, options, Caller())
        return self._results(finished(running, progress=progress, total=self.suite._total(self.records, options)))

    async def evaluate_async(
        self, config: object = None, *, progress: bool | None = None, **options: Unpack[RunOptions]
    ) -> GenAIEvalResults:
        """The same in an event loop, which is not blocked, and on which coroutines are awaited."""
        import asyncio

        running = self._started(config, options, Caller(asyncio.get_running_loop()))
        return self._results(await awaited(running, progress=progress, total=self.suite._total(self.records, options)))

    def _results(self, run: _jurat.Run) -> GenAIEvalResults:
        return GenAIEvalResults(Run(run), tuple(self.records) if self._items == "records" else ())

    def _started(self, config: object, options: Mapping[str, Any], caller: Caller) -> Running:
        if config is not None:
            raise UsageError("embeddings and histograms are not computed: leave `config` out")
        rows, items = (self.records, self._items) if self._items is not None else given(self.records)
        return self.suite._started(rows, options, caller, items)

    def with_updated_contexts_by_id(self, contexts: Mapping[str, Any]) -> GenAIEvalDataset:
        """Another dataset, whose records with these ids have other contexts. Members of a dict replace those of the same name."""
        records = [_updated(it, contexts) for it in self.records]
        return GenAIEvalDataset(records, self.tasks, name=self.suite.name or "dataset", models=self._models)

    def __repr__(self) -> str:
        size = f"{len(self.records)} records" if isinstance(self.records, Sized) else "records"
        return f"<{type(self).__name__}: {size}, {len(self.tasks)} tasks in {len(self.suite.stages)} stages>"

    def _repr_html_(self) -> str:
        return self.suite._repr_html_()


#: The same under the name that later releases of its origin have.
EvalDataset = GenAIEvalDataset


def _task(task: Task | Evaluator | Callable[..., Any]) -> Task:
    if isinstance(task, Task):
        return task
    if not callable(task) or isinstance(task, type):
        raise UsageError(f"a task is an `AssertionTask`, an `LLMJudgeTask`, an `EvaluatorTask` or a function, not a `{type(task).__name__}`")
    evaluator = evaluator_of(task)
    return EvaluatorTask(evaluator.name, evaluator)


def _updated(record: GenAIEvalRecord, contexts: Mapping[str, Any]) -> GenAIEvalRecord:
    if record.record_id not in contexts:
        return record
    context = contexts[record.record_id]
    if isinstance(context, Mapping) and isinstance(record.context, Mapping):
        context = {**record.context, **context}
    return GenAIEvalRecord(context, id=record.record_id, session_id=record._session_id, trace_id=record.trace_id)
