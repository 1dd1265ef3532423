"""The plugin for pytest: cases as test items, and suites as files of tests. pytest finds it when jurat is installed.

A test with the mark `jurat` is evaluated over rows. Each row is a test item, which `-k` selects by the row's id; all rows that are selected are evaluated
together, in one run:

    @pytest.mark.jurat(rows, [right])
    def test_answer(question: str) -> str:
        return answer(question)

Tests of other kinds ask a judge by the fixture `jurat_judge`.

A file `NAME.jurat.yaml` is a suite, and each of its cases a test of its own. A case that failed is a failure, a case that could not be judged is an error, and one that was
not judged is skipped. Options `--jurat-…` are options of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from jurat.errors import JuratError, UsageError

if TYPE_CHECKING:
    from jurat.run import Case, Run, TaskResult

__all__ = ["CaseItem", "Judge", "SuiteFile", "SuiteItem", "jurat_judge", "jurat_options"]

#: The names of files that are suites.
_SUITES = (".jurat.yaml", ".jurat.yml", ".jurat.json")

#: The options of runs that the command line of pytest has: the name, the kind of its values, and its meaning.
_OPTIONS: tuple[tuple[str, Callable[[str], Any] | None, str], ...] = (
    ("limit", int, "run at most this number of rows"),
    ("filter", str, "run the rows for which this CEL expression is true"),
    ("repeat", int, "the number of times that each case is run"),
    ("concurrency", int, "the number of calls at a time"),
    ("budget_usd", float, "spend at most this amount in US dollars"),
    ("budget_calls", int, "make at most this number of calls"),
    ("timeout", float, "stop a run after this number of seconds"),
    ("replay", str, "take all responses from this run, and call nothing"),
    ("fresh", None, "ignore cached responses of earlier runs"),
    ("directory", str, "where runs are stored; default: the root directory of the tests"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of runs."""
    group = parser.getgroup("jurat", "evaluations with jurat")
    for name, kind, meaning in _OPTIONS:
        option = f"--jurat-{name.replace('_', '-')}"
        if kind is None:
            group.addoption(option, action="store_true", default=False, help=meaning)
        else:
            group.addoption(option, type=kind, default=None, metavar=name.upper(), help=meaning)
    group.addoption("--jurat-model", action="append", default=[], metavar="ROLE=MODEL", help="the model of a role, as role=provider/model; may be repeated")


def pytest_configure(config: pytest.Config) -> None:
    """Declares the mark."""
    config.addinivalue_line("markers", "jurat(data, evaluators=(), **options): evaluate the function over rows; each row is a test item")


@pytest.fixture(scope="session")
def jurat_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The options of runs that the command line says, as keywords for `jurat.evaluate` and `Suite.run`.

    Example:
        A test passes them on, so that `--jurat-limit 5` and the others work for it:

            def test_answers(jurat_options):
                jurat.evaluate(answer, rows, [right], **jurat_options).raise_for_failures()
    """
    return _options(request.config)


class Judge(Protocol):
    """What the fixture `jurat_judge` is."""

    def __call__(self, judge: str | Mapping[str, Any], /, *, model: str | None = None, **inputs: Any) -> TaskResult:
        """Asks a judge about an answer.

        Args:
            judge: The name of a ready judge, or a judge as suites have it: `{"rubric": "It apologises."}`.
            model: The model that is asked; default: that of the role `judge` in `--jurat-model`.
            **inputs: What the judge is shown, such as `input`, `output`, `context` and `reference`.

        Returns:
            What it concluded: `passed`, `label`, `score`, `explanation`.

        Raises:
            CaseError: It could not be judged: no usable reply, or an input is missing.

        Example:
            assert jurat_judge("faithfulness", output=answer, context=found).passed
        """
        ...


@pytest.fixture
def jurat_judge(request: pytest.FixtureRequest) -> Judge:
    """A judge that a test asks about an answer. Responses are cached as in other runs.

    Example:
        The test is about one answer, and fails with the reason of the judge:

            def test_answer_is_grounded(jurat_judge):
                judged = jurat_judge("faithfulness", output=answer("When is it open?"), context=pages)
                assert judged.passed, judged.explanation
    """
    from jurat.suite import Suite

    # Those that select rows or repeat them are for runs of many.
    options = {name: it for name, it in _options(request.config).items() if name not in ("limit", "filter", "repeat")}
    known = options.pop("models", {})

    def ask(judge: str | Mapping[str, Any], /, *, model: str | None = None, **inputs: Any) -> TaskResult:
        written = {"use": judge} if isinstance(judge, str) else dict(judge)
        models = known if model is None else {**known, "judge": model}
        suite = Suite({"models": models, "tasks": [{"id": "judged", "judge": written}]}, name=request.node.name)
        run = suite.run([{"id": request.node.name, **inputs}], progress=False, **options)
        [case] = run
        if case.verdict == "error":
            raise CaseError(_words(run, case))
        return case.tasks[0]

    return ask


def _options(config: pytest.Config) -> dict[str, Any]:
    given = {name: config.getoption(f"--jurat-{name.replace('_', '-')}") for name, _, _ in _OPTIONS}
    options = {name: it for name, it in given.items() if it is not None and it is not False}
    options.setdefault("directory", str(config.rootpath))
    models = [it.partition("=") for it in config.getoption("--jurat-model")]
    for role, sign, model in models:
        if not (role and sign and model):
            raise pytest.UsageError(f"--jurat-model is ROLE=MODEL, not `{role}{sign}{model}`")
    if models:
        options["models"] = {role: model for role, _, model in models}
    return options


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> list[CaseItem] | None:
    """Makes the rows of a function with the mark its test items."""
    marks = [it for it in getattr(obj, "pytestmark", ()) if it.name == "jurat"]
    if not marks or not callable(obj) or not isinstance(collector, pytest.Module):
        return None
    return list(_items(collector, name, obj, marks[-1]))


def _items(collector: pytest.Module, name: str, function: Callable[..., Any], mark: pytest.Mark) -> Iterator[CaseItem]:
    arguments = dict(mark.kwargs)
    positional = dict(zip(("data", "evaluators"), mark.args, strict=False))
    if len(mark.args) > 2 or "data" not in {**positional, **arguments}:
        raise UsageError(f"the mark of `{name}` is `@pytest.mark.jurat(data, evaluators, **options)`")
    arguments |= positional
    data = arguments.pop("data")
    rows = list(data() if callable(data) else data)
    group = Group(f"{collector.name}::{name}", function, arguments)
    ids: dict[str, int] = {}
    for number, row in enumerate(rows):
        known = str(row["id"]) if isinstance(row, Mapping) and "id" in row else str(number)
        ids[known] = ids.get(known, 0) + 1
        unique = known if ids[known] == 1 else f"{known}-{ids[known]}"
        yield CaseItem.from_parent(collector, name=f"{name}[{unique}]", group=group, row=row, marks=getattr(function, "pytestmark", ()))


class Group:
    """The rows of one function, which are evaluated together when the first of them is asked for."""

    def __init__(self, name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self.name = name
        self.function = function
        self.arguments = arguments
        self._run: Run | None = None
        self._cases: dict[CaseItem, list[Case]] | None = None

    def cases(self, item: CaseItem) -> tuple[Run, list[Case]]:
        """The cases of a row: one, unless it is run several times."""
        if self._cases is None or self._run is None:
            items = [it for it in item.session.items if isinstance(it, CaseItem) and it.group is self]
            self._run = self._evaluated(item.config, [it.row for it in items])
            cases = list(self._run)
            each = max(1, len(cases) // max(1, len(items)))
            self._cases = {it: cases[n * each : (n + 1) * each] for n, it in enumerate(items)}
        return self._run, self._cases.get(item, [])

    def _evaluated(self, config: pytest.Config, rows: list[Any]) -> Run:
        import jurat

        given = {**_options(config), **self.arguments}
        models = {**self.arguments.get("models", {}), **_options(config).get("models", {})}
        return jurat.evaluate(self.function, rows, **{**given, "name": given.get("name", self.name), "progress": False, "models": models})


class CaseItem(pytest.Item):
    """A row, evaluated."""

    def __init__(self, *, group: Group, row: Any, marks: Sequence[pytest.Mark], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.group = group
        self.row = row
        self.own_markers.extend(marks)
        self.keywords.update({it.name: it for it in marks})

    def setup(self) -> None:
        """Evaluates all rows that are selected if none of them was asked for before. What could not be judged is an error, as a fixture that fails is."""
        run, cases = self.group.cases(self)
        if not cases:
            pytest.skip("the run has no case for this row: an option left it out")
        for case in cases:
            if case.verdict == "error":
                raise CaseError(_words(run, case))

    def runtest(self) -> None:
        """Takes the verdict of the row. Of several repetitions one that failed is reported."""
        run, cases = self.group.cases(self)
        for case in sorted(cases, key=lambda it: it.verdict != "failed"):
            _concluded(run, case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was expected, found, and why."""
        return _shown(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it is."""
        line = getattr(getattr(self.group.function, "__code__", None), "co_firstlineno", 1)
        return self.path, line - 1, self.name


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """Makes a suite a file of tests."""
    if not file_path.name.endswith(_SUITES):
        return None
    return SuiteFile.from_parent(parent, path=file_path)


class SuiteFile(pytest.File):
    """A file that is a suite."""

    def collect(self) -> Iterator[SuiteItem]:
        """The suite as one item. Which cases it has is known when it is run."""
        yield SuiteItem.from_parent(self, name="suite")


class SuiteItem(pytest.Item):
    """A suite. Running it reports each of its cases as a test of its own."""

    run: Run

    def runtest(self) -> None:
        """Runs the suite, and takes its conclusion."""
        from jurat.suite import Suite

        self.run = Suite.load(self.path).run(progress=False, **_options(self.config))
        # Its cases are reported after it: without them the progress that pytest shows would exceed 100 %.
        self.session.testscollected += len(self.run)
        if self.run.conclusion not in ("passed", "failed", "undecided"):
            pytest.skip(self.run.decision)
        if self.run.conclusion != "passed":
            raise SuiteFailure(f"{self.run.decision}\n" + "\n".join(f"  {it}" for it in self.run.missed))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Why the run did not pass; its cases say what was expected and found."""
        return _shown(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it is."""
        return self.path, None, self.path.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Reports the cases of a suite after it was run."""
    done = yield
    run = getattr(item, "run", None)
    if isinstance(item, SuiteItem) and run is not None:
        for case in run:
            for report in _reports(item, run, case):
                item.ihook.pytest_runtest_logreport(report=report)
    return done


def _reports(item: SuiteItem, run: Run, case: Case) -> Iterator[pytest.TestReport]:
    """A case as pytest reports tests: what could not be judged is an error, which is what a failure before the call is."""
    name = "/".join([case.id, *(str(it) for it in (case.subject, case.prompt, case.replicate) if it is not None)])
    nodeid, location = f"{item.nodeid.rpartition('::')[0]}::{name}", (*item.location[:2], name)
    words = _words(run, case)
    outcome = {"passed": "passed", "failed": "failed", "error": "failed"}.get(case.verdict, "skipped")
    when = "setup" if case.verdict == "error" else "call"
    longrepr: Any = None if outcome == "passed" else words
    if outcome == "skipped":
        longrepr = (str(item.path), 0, f"Skipped: {case.verdict}")
    report = pytest.TestReport(nodeid, location, {case.id: 1}, outcome, longrepr, when, duration=case.seconds)  # type: ignore[arg-type]
    yield report


class CaseFailure(AssertionError):
    """A case that did not pass."""


class CaseError(Exception):
    """A case that could not be judged."""


class SuiteFailure(AssertionError):
    """A suite that did not pass."""


def _concluded(run: Run, case: Case) -> None:
    if case.verdict == "failed":
        raise CaseFailure(_words(run, case))
    if case.verdict != "passed":
        pytest.skip(f"{case.verdict}: no task judged this case")


def _shown(excinfo: pytest.ExceptionInfo[BaseException]) -> str | None:
    """Words that need no traceback: the code that raised them is ours."""
    if isinstance(excinfo.value, (CaseFailure, CaseError, SuiteFailure, JuratError)):
        return str(excinfo.value)
    return None


def _words(run: Run, case: Case) -> str:
    """What of a case did not pass: what was expected, what was found, and why."""
    lines = [f"case {case.id}: {case.verdict} (run {run.id})"]
    for task in case.tasks:
        if task.verdict in ("failed", "error"):
            lines += _about(task)
    return "\n".join(lines)


def _about(task: TaskResult) -> Iterator[str]:
    yield f"  {task.id}: {task.verdict}: {task.message}"
    parts = {"expected": task.expected, "found": task.actual, "label": task.label, "score": task.score, "why": task.explanation}
    for name, value in parts.items():
        if value is not None and task.verdict == "failed":
            yield f"      {name}: {_short(value)}"


def _short(value: Any) -> str:
    shown = value if isinstance(value, str) else repr(value)
    return shown if len(shown) <= 500 else f"{shown[:500]} … ({len(shown)} characters)"
