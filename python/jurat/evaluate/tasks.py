"""Tasks: what is judged about each record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jurat._jurat import to_json
from jurat._schema import schema_of
from jurat.errors import UsageError
from jurat.evaluate.operators import ComparisonOperator
from jurat.evaluators import Evaluator, evaluator_of
from jurat.genai.prompt import Prompt
from jurat.genai.settings import Roles

__all__ = ["AssertionTask", "EvaluatorTask", "LLMJudgeTask", "Task"]


class Task:
    """What every task has."""

    def __init__(
        self,
        id: str,
        field_path: str | None,
        operator: ComparisonOperator | str,
        expected_value: Any,
        description: str | None,
        depends_on: Sequence[str] | None,
        condition: bool | None,
    ) -> None:
        self.id = id
        self.field_path = field_path
        self.operator: ComparisonOperator = ComparisonOperator.of(operator)
        self.expected_value = expected_value
        self.description = description
        self.depends_on: list[str] = list(depends_on or ())
        self.condition: bool = bool(condition)

    @property
    def context_path(self) -> str | None:
        """Where it looks, by its later name."""
        return self.field_path

    def definition(self, roles: Roles) -> dict[str, Any]:
        """The task as files have it."""
        task: dict[str, Any] = {"id": self.id}
        if self.description is not None:
            task["description"] = self.description
        if self.depends_on:
            task["depends_on"] = self.depends_on
        if self.condition:
            task["condition"] = True
        task["field_path"] = self.field_path
        task["operator"] = self.operator.value
        if self.operator.takes_operand or (self.operator is ComparisonOperator.Exists and self.expected_value is not None):
            task["expected_value"] = json.loads(to_json(self.expected_value))
        return task

    def __repr__(self) -> str:
        gate = ", a gate" if self.condition else ""
        return f"<{type(self).__name__} {self.id}: {self.field_path} {self.operator.name}{gate}>"


class AssertionTask(Task):
    """A value of the record, or of the results of other tasks, compared with something.

    `expected_value` may be `${path}`: what each record says itself. With `item_field_path` each item of a list is compared.
    """

    def __init__(
        self,
        id: str,
        field_path: str | None = None,
        expected_value: Any = None,
        operator: ComparisonOperator | str | None = None,
        item_field_path: str | None = None,
        description: str | None = None,
        depends_on: Sequence[str] | None = None,
        condition: bool | None = None,
        *,
        context_path: str | None = None,
        item_context_path: str | None = None,
    ) -> None:
        if operator is None:
            raise UsageError(f"the task `{id}` needs an `operator`")
        path = _one_of(id, "field_path", field_path, context_path)
        super().__init__(id, path, operator, expected_value, description, depends_on, condition)
        self.item_field_path: str | None = _one_of(id, "item_field_path", item_field_path, item_context_path)

    def definition(self, roles: Roles) -> dict[str, Any]:
        """The task as files have it."""
        task = super().definition(roles)
        if self.item_field_path is not None:
            task["item_field_path"] = self.item_field_path
        return task


class LLMJudgeTask(Task):
    """A model that is asked to judge, and what of its answer counts. `field_path` starts at the answer."""

    def __init__(
        self,
        id: str,
        prompt: Prompt,
        expected_value: Any = None,
        field_path: str | None = None,
        operator: ComparisonOperator | str | None = None,
        description: str | None = None,
        depends_on: Sequence[str] | None = None,
        max_retries: int | None = None,
        condition: bool | None = None,
        *,
        context_path: str | None = None,
    ) -> None:
        if operator is None:
            raise UsageError(f"the task `{id}` needs an `operator`")
        path = _one_of(id, "field_path", field_path, context_path)
        super().__init__(id, path, operator, expected_value, description, depends_on, condition)
        self.prompt = prompt
        self.max_retries: int = 3 if max_retries is None else max_retries

    def definition(self, roles: Roles) -> dict[str, Any]:
        """The task as files have it."""
        judge: dict[str, Any] = {"model": roles.role(self.prompt), **self.prompt.definition()}
        if self.prompt.output_type is not None:
            judge["output"] = schema_of(self.prompt.output_type)
        if self.max_retries != 3:
            judge["max_retries"] = self.max_retries
        return {"judge": judge, **super().definition(roles)}


class EvaluatorTask(Task):
    """A function that looks at the record, and what of its result counts. `field_path` starts at the result: `label`, `score`, `explanation`.

    Parameters are bound by their names: `output`, `input`, `reference`, `metadata`, or whatever else the record or a task in `depends_on` has under the name;
    `arguments` says otherwise for single ones, as paths.
    """

    def __init__(
        self,
        id: str,
        evaluator: Evaluator | Callable[..., Any],
        expected_value: Any = None,
        field_path: str | None = None,
        operator: ComparisonOperator | str | None = None,
        description: str | None = None,
        depends_on: Sequence[str] | None = None,
        condition: bool | None = None,
        *,
        arguments: Mapping[str, str] | None = None,
        context_path: str | None = None,
    ) -> None:
        path = _one_of(id, "field_path", field_path, context_path)
        self.compares: bool = operator is not None
        super().__init__(
            id, path, ComparisonOperator.Exists if operator is None else operator, expected_value, description, depends_on, condition
        )
        self.evaluator: Evaluator = evaluator_of(evaluator)
        self.arguments: dict[str, str] = dict(arguments or {})

    def definition(self, roles: Roles) -> dict[str, Any]:
        """The task as files have it."""
        task = super().definition(roles)
        if not self.compares:
            task = {key: it for key, it in task.items() if key not in ("field_path", "operator", "expected_value")}
        task["evaluate"] = self.evaluator
        if self.arguments:
            task["with"] = self.arguments
        return task

    def __repr__(self) -> str:
        return f"<EvaluatorTask {self.id}: {self.evaluator.name}>"


def _one_of(task: str, name: str, path: str | None, later: str | None) -> str | None:
    if path is not None and later is not None and path != later:
        raise UsageError(f"the task `{task}` has `{name}` and `{name.replace('field', 'context')}`, which are the same")
    return later if path is None else path
