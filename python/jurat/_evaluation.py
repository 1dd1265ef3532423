"""`jurat.evaluate`: a function over rows, judged."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ParamSpec

from jurat.errors import UsageError
from jurat.run import Run
from jurat._jurat import to_json
from jurat._options import RunOptions
from jurat._part import Part, plain
from jurat._sources import file_of
from jurat.subject import Subject
from jurat.suite import Model, Suite

__all__ = ["evaluate", "evaluate_async"]

P = ParamSpec("P")


def evaluate(
    task: Callable[..., Any] | Mapping[str, Callable[..., Any]],
    data: Iterable[Any] | Any,
    evaluators: Sequence[Any] = (),
    *,
    name: str | None = None,
    models: Mapping[str, str | Mapping[str, Any] | Model] | None = None,
    thresholds: Part | Mapping[str, Any] | None = None,
    group_by: Sequence[str] = (),
    progress: bool | None = None,
    directory: str | PathLike[str] | None = None,
    variables: Mapping[str, str] | None = None,
    limit: int | None = None,
    filter: str | None = None,
    tags: Sequence[str] = (),
    repeat: int | None = None,
    concurrency: int | None = None,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    budget_calls: int | None = None,
    timeout: float | None = None,
    request_timeout: float | None = None,
    batch: bool = False,
    batch_poll: float | None = None,
    fail_fast: bool = False,
    gate: bool = False,
    stop_when: str | None = None,
    base: str | None = None,
    seed: int | None = None,
    resume_decided: bool = False,
    keep_going: bool = False,
    rerun: str | Sequence[str] = (),
    rerun_from: str | None = None,
    fresh: bool = False,
    max_age: float | None = None,
    shared_journal: str | None = None,
    replay: str | PathLike[str] | None = None,
    stream: bool = False,
    keep_all: bool = True,
    durable: bool = False,
    unsafe_code: bool = False,
    unsafe_host: bool = False,
) -> Run:
    """Calls a function with each row, and judges what it returns.

    What the function returns stands under `output`, beside the fields of the row, so every comparison, judge and evaluator sees both. How long it took is
    under `latency_ms`. An exception is an error of its row, with the traceback, and never a failure. Each result is stored before it is judged: a run that was
    interrupted is resumed by the same call, and the function is not called again for rows that it has answered. That holds for rows that can be
    read twice (lists, data frames, tables); rows of an iterator are gone with their run. Results of a run that is over are never used for another one, because
    the function may have changed; `replay` uses them on purpose.

    Args:
        task: The function, plain or `async`. Its parameters are fields of the row by their names; a parameter called `row` is given the whole row.
            Several functions by name, as a dict, are compared: each is called with each row.
        data: The rows: a list, an iterator, columns by name, a data frame, a table of Arrow, or the path of a file of JSON lines, JSON, CSV or Parquet.
            A field `id` names the row.
        evaluators: What is judged, in any order: functions, the classes of `jurat.spec`, and tasks as suites have them, as dicts. A function takes `output`
            and fields of the row by their names. `True` and `False` are its verdict: passed and failed. A label, a score or a dict of them is measured.
        name: The name of the run; default: that of the function.
        models: The models of judges, by role: `provider/model`, a dict with settings, or a function.
        thresholds: What the run must reach to pass, such as `Thresholds(pass_rate=0.9)`; default: no failures.
        group_by: Fields of the rows by whose values results are summed up.
        progress: Whether progress is shown; default: on a terminal and in a notebook.
        directory: Where the run is stored: in `.jurat` there, or in the nearest directory above that has one; default: the current directory.
        variables: Variables for keys and headers, which precede those of the environment. They are not stored.
        limit: Run at most this number of rows.
        filter: Run the rows for which this CEL expression is true; it may use their fields, `row`, `id` and `tags`.
        tags: Run the rows with one of these tags.
        repeat: How many times the function is called with each row; default: 1.
        concurrency: How many calls are made at a time; default: 16.
        budget_usd: Spend at most this amount in US dollars on models of judges.
        budget_tokens: Use at most this number of tokens, input and output together.
        budget_calls: Make at most this number of calls, of the function and of models together.
        timeout: Stop after this number of seconds.
        request_timeout: The seconds that one call may take; default: 300.
        batch: Send requests in batches, at half the price, to providers that have them (OpenAI, Anthropic); a batch may take up to a day.
        batch_poll: The most seconds between two looks at a batch; default: 60.
        fail_fast: Stop at the first case that fails or ends with an error.
        gate: With `fail_fast`, stop when the gate of a suite is certain to fail, and not before; `evaluate` has no gate.
        stop_when: Stop as soon as the answer is known, such as `width=0.05` for the pass rate; rows come from a file then, and run in a random order.
        base: The run that conditions of `stop_when` compare with.
        seed: The seed of the random order of `stop_when`; default: random, and the run records it.
        resume_decided: Continue a run that stopped because enough was known, to its last row.
        keep_going: Continue when a model fails every request.
        rerun: Run only the cases with these verdicts in an earlier run: `failed`, `error`, `not_run`.
        rerun_from: The earlier run for `rerun`; default: the latest of this name.
        fresh: Ignore cached responses of models from earlier runs.
        max_age: Ignore cached responses that are older than this number of seconds.
        shared_journal: Use responses of a journal that a team shares, and send it new ones: `postgresql://USER@HOST/DATABASE`, or `none`; default: the variable `JURAT_SHARED_JOURNAL`.
        replay: Take all results and responses from this run, and call nothing.
        stream: Request streamed responses of models.
        keep_all: Copy all rows into the run, not only those that did not pass.
        durable: Wait for the disk after each result, so that it survives a power failure.
        unsafe_code: Run code of evaluators even where the system cannot isolate it.
        unsafe_host: Run agents without a sandbox.

    Returns:
        The run, with a case for each row, function and repetition.

    Raises:
        SuiteError: Something does not fit together, such as a task that reads what nothing supplies.
        UsageError: The function takes what the rows do not have, or an option means nothing.
        RunError: The run could not be made, or its rows could not be read.

    Example:
        >>> import jurat
        >>> def answer(question: str) -> str:
        ...     return "Lima" if "Peru" in question else "I do not know."
        >>> def right(output: str, expected: str) -> bool:
        ...     return output == expected
        >>> rows = [{"id": "peru", "question": "Capital of Peru?", "expected": "Lima"},
        ...         {"id": "chile", "question": "Capital of Chile?", "expected": "Santiago"}]
        >>> run = jurat.evaluate(answer, rows, [right])
        >>> [(case.id, case.verdict) for case in run]
        [('peru', 'passed'), ('chile', 'failed')]
    """
    suite, rows, options = _prepared(locals())
    return suite.run(rows, **options)


def _doc(function: Callable[..., Any]) -> str:
    """A docstring without its indentation, which Python takes away by itself from 3.13 on."""
    return inspect.cleandoc(function.__doc__ or "")


def _like(function: Callable[P, Run]) -> Callable[[Callable[..., Coroutine[Any, Any, Run]]], Callable[P, Coroutine[Any, Any, Run]]]:
    """Gives a coroutine the parameters of a function, and what its docstring says about them."""

    def wrap(coroutine: Callable[..., Coroutine[Any, Any, Run]]) -> Callable[P, Coroutine[Any, Any, Run]]:
        first, name = _doc(coroutine), coroutine.__name__
        wrapped = functools.wraps(function)(coroutine)
        wrapped.__name__ = wrapped.__qualname__ = name
        (_, title, rest) = _doc(function).partition("Args:\n")
        wrapped.__doc__ = f"{first}\n\n{title}{rest.partition('Example:')[0]}"
        return wrapped

    return wrap


@_like(evaluate)
async def evaluate_async(*args: Any, **kwargs: Any) -> Run:
    """The same as `evaluate` in an event loop, which is not blocked. Coroutines of the function and of evaluators are awaited on that loop."""
    bound = inspect.signature(evaluate).bind(*args, **kwargs)
    bound.apply_defaults()
    suite, rows, options = _prepared(bound.arguments)
    return await suite.run_async(rows, **options)


def _with_options(*functions: Callable[..., Any]) -> None:
    """Has `help()` show the options of a run as the keywords that they are, with what they mean. All functions have the same parameters."""
    signature, known = inspect.signature(functions[0]), inspect.signature(evaluate).parameters
    models = inspect.Parameter("models", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=RunOptions.__annotations__["models"])
    options = [models, *(known[it] for it in RunOptions.__annotations__ if it != models.name)]
    own = [it for it in signature.parameters.values() if it.kind is not it.VAR_KEYWORD]
    meanings = _meanings({it.name for it in options} - {models.name})
    lines = "".join(["    models: The models of roles, in place of the suite's.\n", *meanings])
    for function in functions:
        function.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        function.__doc__ = _doc(function).replace("    **options: How it is run.\n", lines)


def _meanings(names: set[str]) -> list[str]:
    """What the docstring of `evaluate` says about parameters, for a method."""
    (_, _, rest) = _doc(evaluate).partition("Args:\n")
    lines = rest.partition("Returns:")[0].splitlines(keepends=True)
    found, is_meant = [], False
    for line in lines:
        if line.startswith("    ") and not line.startswith("     "):
            is_meant = line.strip().partition(":")[0] in names
        if is_meant and line.strip():
            found.append(line)
    return found


_with_options(Suite.run, Suite.run_async)

#: The parameters that are no options of a run.
_OWN = ("task", "data", "evaluators", "name", "models", "thresholds", "group_by")


def _prepared(given: Mapping[str, Any]) -> tuple[Suite, Any, dict[str, Any]]:
    """The suite that a call means, its rows, and the options of its run."""
    file = file_of(given["data"])
    first, data = _peeked(given["data"])
    subjects = _subjects(given["task"], of_values=first is not None and not to_json(first).startswith("{"))
    if isinstance(first, Mapping):
        # What the function takes is in the rows, or nothing is called.
        for subject in subjects.values():
            subject.arguments(first)
    definition: dict[str, Any] = {
        "records": "-" if file is None else file,
        "ask": {"whole_row": True, "model": list(subjects)},
        "tasks": [_task(number, it) for number, it in enumerate(given["evaluators"], 1)],
    }
    if given["thresholds"] is not None:
        definition["thresholds"] = plain(given["thresholds"])
    if given["group_by"]:
        definition["group_by"] = list(given["group_by"])
    name = given["name"] or "-".join(it.name for it in subjects.values())
    suite = Suite(definition, name=name, models={**(given["models"] or {}), **subjects})
    options = {key: it for key, it in given.items() if key not in _OWN and it is not None and it != ()}
    return suite, data if file is None else None, options


def _peeked(data: Any) -> tuple[Any, Any]:
    """The first row, where rows are objects of Python, and all of them."""
    if isinstance(data, (list, tuple)):
        return next(iter(data), None), data
    if not isinstance(data, Iterator):
        return None, data
    first = next(data, None)
    return first, data if first is None else itertools.chain([first], data)


def _subjects(task: Any, *, of_values: bool) -> dict[str, Subject]:
    if not isinstance(task, Mapping):
        return {"subject": Subject(task, of_values=of_values)}
    if not task:
        raise UsageError("there is no function to evaluate: the dict of functions is empty")
    return {str(name): Subject(it, of_values=of_values) for name, it in task.items()}


def _task(number: int, evaluator: Any) -> Any:
    """A task as suites have it; the number is its place among the evaluators."""
    if isinstance(evaluator, Mapping):
        return evaluator
    if isinstance(evaluator, Part):
        return evaluator.definition()
    if not callable(evaluator):
        raise UsageError(f"an evaluator is a function, a class of `jurat.spec` or a task as a dict, not a `{type(evaluator).__name__}`")
    from jurat._judging import judging

    # Lambdas have no name that a task could have.
    has_name = str(getattr(evaluator, "__name__", "")).isidentifier()
    named = judging(evaluator, None if has_name else f"evaluator_{number}")
    return {"id": named.name, "evaluate": named}
