"""Asking a model one prompt. The answer is stored like any other: running the same program again does not pay for it twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Generic, TypeVar, overload

from jurat._jurat import to_json
from jurat._schema import instance_of, schema_of
from jurat.errors import ModelError, UsageError
from jurat.genai.prompt import Prompt
from jurat.genai.provider import Provider
from jurat.genai.settings import model_of
from jurat.run import Run
from jurat.suite import Suite

__all__ = ["Agent", "AgentResponse"]

T = TypeVar("T")


@dataclass(frozen=True)
class AgentResponse(Generic[T]):
    """What a model answered."""

    #: The answer as an instance of the type that was asked for; its text when none was.
    structured_output: T
    #: The text of the answer.
    text: str
    #: The tokens that it took, when the provider says.
    usage: dict[str, int] | None
    #: Why it ended.
    finish_reason: str | None

    @property
    def result(self) -> T:
        """The same as `structured_output`."""
        return self.structured_output


class Agent:
    """A provider whose models are asked.

    Asking the same twice gives two answers; asking it in another run of the program gives the same two again.
    """

    def __init__(
        self, provider: Provider | str, system_instructions: str | None = None, *, directory: str | PathLike[str] = "."
    ) -> None:
        self.provider: Provider = Provider.of(provider)
        self.provider.require()
        self._system = system_instructions
        self._directory = directory
        self._asked: Counter[str] = Counter()

    @overload
    def execute_prompt(self, prompt: Prompt | str, output_type: type[T], model: str | None = None) -> AgentResponse[T]: ...
    @overload
    def execute_prompt(
        self, prompt: Prompt | str, output_type: Mapping[str, Any] | None = None, model: str | None = None
    ) -> AgentResponse[Any]: ...
    def execute_prompt(self, prompt: Prompt | str, output_type: Any = None, model: str | None = None) -> AgentResponse[Any]:
        """Asks, and waits for the answer.

        Args:
            prompt: What is said; text alone needs `model`.
            output_type: What the answer must be: a pydantic model, a dataclass, a typed dict or a JSON Schema; default: that of the prompt, else any text.
            model: The model, for text alone.

        Returns:
            The answer; `structured_output` is an instance of `output_type`.

        Raises:
            ModelError: The model gave no answer, or not what was asked for.
            UsageError: Places of the prompt are not filled in, or text says no model.
        """
        asked, repeat = self._prepared(prompt, output_type, model)
        return asked.response(asked.suite.run(asked.rows, progress=False, repeat=repeat, directory=self._directory))

    @overload
    async def execute_prompt_async(
        self, prompt: Prompt | str, output_type: type[T], model: str | None = None
    ) -> AgentResponse[T]: ...
    @overload
    async def execute_prompt_async(
        self, prompt: Prompt | str, output_type: Mapping[str, Any] | None = None, model: str | None = None
    ) -> AgentResponse[Any]: ...
    async def execute_prompt_async(
        self, prompt: Prompt | str, output_type: Any = None, model: str | None = None
    ) -> AgentResponse[Any]:
        """The same in an event loop, which is not blocked."""
        asked, repeat = self._prepared(prompt, output_type, model)
        return asked.response(await asked.suite.run_async(asked.rows, progress=False, repeat=repeat, directory=self._directory))

    def _prepared(self, prompt: Prompt | str, output_type: Any, model: str | None) -> tuple[_Asked, int]:
        if isinstance(prompt, str):
            if model is None:
                raise UsageError("text alone says no model: give `model`, or a `Prompt`")
            prompt = Prompt(prompt, model=model, provider=self.provider)
        if prompt.parameters:
            raise UsageError(f"the prompt has places that nothing fills in: {', '.join(prompt.parameters)}; `bind` them")
        asked = _Asked.of(prompt, self._system, output_type if output_type is not None else prompt.output_type)
        # A repeated question has another number, so it is asked anew; what was asked before is found where answers are stored.
        key = to_json([asked.suite.definition, asked.rows])
        self._asked[key] += 1
        return asked, self._asked[key]


@dataclass(frozen=True)
class _Asked:
    """One question as a suite with one row."""

    suite: Suite
    rows: list[dict[str, str]]
    output_type: Any

    @classmethod
    def of(cls, prompt: Prompt, system: str | None, output_type: Any) -> _Asked:
        instructions = [*([system] if system else []), *prompt.system_instructions]
        # What is said is the row: nothing in it is filled in again.
        row = {"said": "\n\n".join(prompt.messages)}
        ask: dict[str, Any] = {"prompt": "${said}", "model": "subject"}
        if instructions:
            row["instructions"] = "\n\n".join(instructions)
            ask["system"] = "${instructions}"
        if output_type is not None:
            ask["output"] = schema_of(output_type)
        definition = {
            "records": "-",
            "models": {"subject": model_of(prompt)},
            "ask": ask,
            "tasks": [{"id": "answered", "field_path": "output", "operator": "exists"}],
        }
        return cls(Suite._quiet(definition, name="prompt"), [row], output_type)

    def response(self, run: Run) -> AgentResponse[Any]:
        """What was answered. The journal of the project has it as well, so the file of the run is not needed any more."""
        try:
            return self._read(run)
        finally:
            run.path.unlink(missing_ok=True)

    def _read(self, run: Run) -> AgentResponse[Any]:
        last = run._at(len(run) - 1)
        task = last.task("answered")
        if task.verdict != "passed":
            raise ModelError(task.message)
        answer = run.answered()[-1]
        text: str = answer["output"]
        if self.output_type is None:
            output: Any = text
        elif "parsed" in answer:
            output = instance_of(self.output_type, answer["parsed"])
        else:
            raise ModelError(f"the answer is not what was asked for: {text}")
        return AgentResponse(output, text, answer.get("usage"), answer.get("finish_reason"))
