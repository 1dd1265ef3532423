"""Tasks: what is judged about each case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from jurat.errors import DataError
from jurat.evaluators import Evaluator
from jurat.run import Case
from jurat.scenario.nodes import OutcomeNode
from jurat.spec.comparison import Comparison
from jurat._part import Part, members

__all__ = ["Assertion", "Cel", "Check", "Evaluate", "Group", "Judge", "Outcome", "Task"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Task(Part):
    """What every task has.

    Args:
        description: What it is for; shown in reports.
        depends_on: The ids of tasks whose results it reads; it is skipped when one of them is a gate that did not pass.
        gate: Whether it decides about tasks that depend on it: a `condition` is not counted itself, and what is `required` is.
        on: The cases that it is for: `records`, `cases`, `scenarios`, their ids, or `{"tag": …}`.
        dimensions: The dimensions that its result counts for.
        tags: Tags, which are stored and not used.
    """

    description: str | None = None
    depends_on: Sequence[str] = ()
    gate: Literal["condition", "required"] | None = None
    on: str | Sequence[str] | Mapping[str, str] | None = None
    dimensions: Sequence[str] = ()
    tags: Sequence[str] = ()

    def _written(self, id: str, **own: Any) -> dict[str, Any]:
        lists = {"depends_on": self.depends_on, "dimensions": self.dimensions, "tags": self.tags}
        written = members(None, id=id, description=self.description, **own, on=self.on)
        if self.gate is not None:
            written[self.gate] = True
        return written | {key: list(it) for key, it in lists.items() if it}


@dataclass(frozen=True)
class Assertion(Task):
    """A value of the evidence, or of the results of other tasks, compared with something.

    Args:
        id: Its name.
        field_path: Where the value is, such as `output` or `output.items[0].price`.
        comparison: What it must be: one of the functions of `jurat.spec.compare`.
        item_field_path: A path inside each item, when the value is a list and each item is compared.
        missing: What it is when the path finds nothing: an `error`, which is the default, or a `fail`.
        transform: What is done to the value before it is compared: `{"path": …}`, `{"regex": …}`, `{"cel": …}` or `{"evaluate": …}`, perhaps with `otherwise`.

    Example:
        >>> from jurat.spec import Assertion, compare
        >>> Assertion("brief", "output", compare.has_length_less_than(20)).definition()
        {'id': 'brief', 'field_path': 'output', 'operator': 'has_length_less_than', 'expected_value': 20}
    """

    id: str
    field_path: str
    comparison: Comparison
    item_field_path: str | None = None
    missing: Literal["error", "fail"] | None = None
    transform: Mapping[str, Any] | None = None

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        own = {"field_path": self.field_path, "item_field_path": self.item_field_path, "comparison": self.comparison}
        return self._written(self.id, **own, missing=self.missing, transform=self.transform)


@dataclass(frozen=True)
class Cel(Task):
    """An expression over the case, in CEL.

    Args:
        id: Its name.
        cel: The expression: true passes and false fails; a number or a text is measured, or compared.
        comparison: What it must give, when that is not true or false.

    Example:
        >>> from jurat.spec import Cel
        >>> Cel("brief", "size(output) < 200").definition()
        {'id': 'brief', 'cel': 'size(output) < 200'}
    """

    id: str
    cel: str
    comparison: Comparison | None = None

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        return self._written(self.id, cel=self.cel, comparison=self.comparison)


@dataclass(frozen=True)
class Group(Task):
    """Several tasks that give one verdict. Its members are judged and shown; the group is counted in their place.

    Args:
        id: Its name.
        group: The rule and the ids of tasks, as files have them: `all`, `any`, `at_least` and `of`, or `weights` and `threshold`.

    Example:
        >>> from jurat.spec import Group
        >>> Group("helpful", {"any": ["cites", "explains"]}).definition()
        {'id': 'helpful', 'group': {'any': ['cites', 'explains']}}
    """

    id: str
    group: Mapping[str, Any]

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        return self._written(self.id, group=dict(self.group))


@dataclass(frozen=True)
class Judge(Task, Generic[T]):
    """A model that is asked to judge, and what of its reply counts.

    Args:
        id: Its name.
        prompt: What it is asked; `${path}` is replaced by what the evidence has at that path. `{"jinja": …}` is a Jinja template, `{"file": …}` a file with either. Not
            with `use` or `rubric`.
        comparison: What the reply, or the part of it at `field_path`, must be; without it the reply is measured, and a ready judge passes as it says itself.
        output_type: What the reply must be: a pydantic model, a dataclass, a typed dict or a JSON Schema; default: any text.
        field_path: Where in the reply the value is that counts.
        model: The role that is asked, or `provider/model`; default: the role `judge`.
        system: The system prompt.
        panel: Several roles or models, each of which is asked, in place of `model`.
        repeat: How many times each of them is asked; default: 1.
        aggregate: How several replies become one result.
        max_retries: Retries after an error that may pass or a reply that does not fit; default: 3.
        use: A ready judge by its name, such as `faithfulness`, or `{"file": path}` for a judge file, in place of `prompt`.
        rubric: A criterion in plain words, in place of `prompt`.
        inputs: Where inputs of a used judge come from: paths, or `{"value": …}`, for those that are not found under their usual names.
        messages: The messages of a conversation, in place of `prompt`: dicts with `role` and `content`, as files have them.
        soft_score: A field of the reply with a short list of labels, or `{"field": …, "values": …}`: the mean of the labels by their probabilities is added to the reply as
            `soft_score`. The model must have logprobs.

    Example:
        >>> from dataclasses import dataclass
        >>> import jurat
        >>> from jurat.spec import Judge, compare
        >>> @dataclass
        ... class Tone:
        ...     polite: bool
        ...     reason: str
        >>> tone = Judge("tone", "Is it polite? ${output}", compare.equals(True), output_type=Tone, field_path="polite")
        >>> run = jurat.evaluate(lambda said: said, [{"id": "r1", "said": "Sit, please."}], [tone],
        ...                      models={"judge": lambda question: {"polite": True, "reason": "it says please"}})
        >>> tone.reply(run.case("r1")).reason
        'it says please'
    """

    id: str
    prompt: str | Mapping[str, Any] | None = None
    comparison: Comparison | None = None
    output_type: type[T] | Mapping[str, Any] | None = None
    field_path: str | None = None
    model: str | None = None
    system: str | Mapping[str, Any] | None = None
    panel: Sequence[str] = ()
    repeat: int | None = None
    aggregate: Literal["majority", "mean", "median", "all", "any"] | None = None
    max_retries: int | None = None
    use: str | Mapping[str, str] | None = None
    rubric: str | None = None
    inputs: Mapping[str, Any] | None = None
    messages: Sequence[Mapping[str, Any]] = ()
    soft_score: str | Mapping[str, Any] | None = None

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        from jurat._schema import schema_of

        judge = members(None, messages=list(self.messages) or None, soft_score=self.soft_score)
        judge |= members(None, model=self.model, system=self.system, prompt=self.prompt, panel=self.panel or None, repeat=self.repeat)
        judge |= members(None, aggregate=self.aggregate, max_retries=self.max_retries, use=self.use, rubric=self.rubric, with_=self.inputs)
        if self.output_type is not None:
            judge["output"] = schema_of(self.output_type)
        return self._written(self.id, judge=judge, field_path=self.field_path, comparison=self.comparison)

    def reply(self, case: Case) -> T:
        """What the judge replied in a case.

        Args:
            case: A case of a run.

        Returns:
            An instance of `output_type`.

        Raises:
            KeyError: The case has no such task.
            DataError: The judge gave no valid reply in this case.
        """
        from jurat._schema import instance_of

        task = case.task(self.id)
        if task.reply is None:
            raise DataError(f"`{self.id}` has no reply in `{case.id}`: {task.verdict}: {task.message}")
        reply = task.reply
        if self.soft_score is not None and isinstance(reply, Mapping):
            # What is computed from probabilities is no part of what the judge was asked for.
            reply = {key: value for key, value in reply.items() if key not in ("soft_score", "probabilities")}
        replied: T = instance_of(self.output_type, reply)
        return replied


@dataclass(frozen=True)
class Check(Task):
    """A deterministic check of an agent's run.

    Args:
        id: Its name.
        check: What is checked: one of the functions of `jurat.spec.check`.

    Example:
        >>> from jurat.spec import Check, check
        >>> Check("written", check.file_exists(path="report.md")).definition()
        {'id': 'written', 'check': {'kind': 'file_exists', 'path': 'report.md'}}
    """

    id: str
    check: Mapping[str, Any]

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        return self._written(self.id, check=self.check)


@dataclass(frozen=True)
class Evaluate(Task):
    """A function that looks at the case, and what of its result counts.

    Args:
        id: Its name.
        evaluator: The function, or the name of one under `evaluators` of the suite.
        comparison: What its result, or the part of it at `field_path`, must be; without it `True` and `False` are its verdict, and anything else is
            measured.
        field_path: Where in the result the value is: `label`, `score`, `explanation`.
        arguments: Where parameters get their values from, as paths, for those that are not called like a field.

    Example:
        >>> import jurat
        >>> from jurat.spec import Evaluate, compare
        >>> brief = Evaluate("brief", lambda output: len(output), compare.less_than(10), field_path="score")
        >>> jurat.evaluate(lambda said: said, [{"said": "Sit."}, {"said": "Would you sit?"}], [brief]).pass_rate
        0.5
    """

    id: str
    evaluator: Evaluator | Callable[..., Any] | str
    comparison: Comparison | None = None
    field_path: str | None = None
    arguments: Mapping[str, str] | None = None

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        from jurat._judging import judging

        called = judging(self.evaluator, self.id) if callable(self.evaluator) and self.comparison is None else self.evaluator
        own = {"evaluate": called, "with_": self.arguments, "field_path": self.field_path}
        return self._written(self.id, **own, comparison=self.comparison)


@dataclass(frozen=True)
class Outcome(Task):
    """A criterion over the whole of a scenario.

    Args:
        id: Its name.
        outcome: The criterion, made with `jurat.scenario`, such as `all_of(…)`.
    """

    id: str
    outcome: OutcomeNode

    def definition(self) -> dict[str, Any]:
        """The task as files have it.

        Returns:
            A dict that a suite takes in its place.
        """
        return self._written(self.id, outcome=self.outcome.stored())
