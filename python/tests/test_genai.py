"""Prompts and models, through the wire formats of providers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from conftest import Endpoint
from pydantic import BaseModel

from jurat.errors import UsageError
from jurat.evaluate import AssertionTask, ComparisonOperator, GenAIEvalDataset, LLMJudgeTask
from jurat.genai import Agent, Prompt, Provider, Score
from jurat.queue import GenAIEvalRecord


class Department(BaseModel):
    name: Literal["kitchen", "garden"]
    reason: str
    confidence: float


@dataclass
class Plain:
    name: str
    scores: list[int]
    note: str | None = None


PROVIDERS = ["openai", "anthropic", "gemini", "google", "ollama"]


def prompt(provider: str = "openai", output_type: Any = Department) -> Prompt:
    return Prompt(
        messages="Which department is this about? ${question}",
        model="m",
        provider=provider,
        output_type=output_type,
        system_instructions="You sort mail.",
        model_settings={"temperature": 0.0, "max_tokens": 100},
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_is_an_instance(provider: str, endpoint: Endpoint) -> None:
    agent = Agent(Provider.of(provider))
    response = agent.execute_prompt(prompt=prompt(provider).bind(question="Can grills rust?"), output_type=Department)
    assert isinstance(response.structured_output, Department)
    assert response.structured_output.name in ("kitchen", "garden")
    assert response.usage is not None and response.usage["input_tokens"] > 0


def test_types_of_other_kinds(endpoint: Endpoint) -> None:
    agent = Agent("openai")
    bound = prompt(output_type=None).bind("question", "Why?")
    plain = agent.execute_prompt(bound, Plain).structured_output
    assert isinstance(plain, Plain) and all(isinstance(it, int) for it in plain.scores)
    assert isinstance(agent.execute_prompt(bound, Score).structured_output, Score)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
    assert isinstance(agent.execute_prompt(bound, schema).structured_output["a"], int)
    assert isinstance(agent.execute_prompt(bound).structured_output, str)


def test_the_same_question_twice_is_asked_twice_but_never_again(endpoint: Endpoint) -> None:
    bound = prompt().bind(question="Why?")
    for expected in (2, 2):
        agent = Agent(Provider.OpenAI)
        agent.execute_prompt(bound)
        agent.execute_prompt(bound)
        assert endpoint.stats()["requests"] == expected


def test_a_question_leaves_no_run_behind(endpoint: Endpoint) -> None:
    agent = Agent(Provider.OpenAI)
    for _ in range(3):
        agent.execute_prompt(prompt().bind(question="Why?"))
    assert list(Path(".jurat").rglob("*.jurat")) == []
    again = Agent(Provider.OpenAI)
    again.execute_prompt(prompt().bind(question="Why?"))
    assert endpoint.stats()["requests"] == 3, "the journal has the answers"


def test_what_is_bound_is_not_filled_in_again(endpoint: Endpoint) -> None:
    response = Agent("openai").execute_prompt(prompt(output_type=None).bind(question="What does ${HOME} mean?"))
    assert response.text


def test_in_an_event_loop(endpoint: Endpoint) -> None:
    async def both() -> list[Any]:
        agent = Agent("gemini")
        asked = [agent.execute_prompt_async(prompt("gemini").bind(question=it)) for it in ("a", "b")]
        return [it.structured_output for it in await asyncio.gather(*asked)]

    assert all(isinstance(it, Department) for it in asyncio.run(both()))


def test_what_is_not_bound_is_told() -> None:
    with pytest.raises(UsageError, match="question; `bind` them"):
        Agent("openai").execute_prompt(prompt())


@pytest.mark.parametrize("provider", ["vertex", "undefined", "nobody"])
def test_a_provider_that_is_not_supported_says_so(provider: str) -> None:
    with pytest.raises(ValueError, match=provider):
        prompt(provider)
    with pytest.raises(ValueError, match=provider):
        Agent(provider)


def test_binding_gives_a_copy() -> None:
    first = Prompt(["Translate ${text}", {"role": "system", "content": "Into ${language}."}], "m", Provider.OpenAI)
    assert first.parameters == ["text", "language"]
    second = first.bind("text", {"a": [1]}).bind(language="French")
    assert (second.messages, second.system_instructions, second.parameters) == (['Translate {"a":[1]}'], ["Into French."], [])
    assert first.parameters == ["text", "language"]
    with pytest.raises(UsageError, match="assistant"):
        Prompt([{"role": "assistant", "content": "Hi"}], "m", "openai")


def test_judges_and_gates_behind_them(endpoint: Endpoint) -> None:
    tasks = [
        LLMJudgeTask(
            id="classify", prompt=prompt("gemini"), expected_value=None, operator=ComparisonOperator.IsNotEmpty, field_path="name"
        ),
        AssertionTask(
            id="is_kitchen",
            field_path="classify.name",
            operator=ComparisonOperator.Equals,
            expected_value="kitchen",
            depends_on=["classify"],
            condition=True,
        ),
        LLMJudgeTask(
            id="expert",
            prompt=Prompt("Is it right? ${question}", "m", "openai", output_type=Score),
            expected_value=0,
            operator=ComparisonOperator.GreaterThanOrEqual,
            field_path="score",
            depends_on=["is_kitchen"],
        ),
    ]
    records = [GenAIEvalRecord({"question": f"question {n}"}, id=str(n)) for n in range(12)]
    dataset = GenAIEvalDataset(records=records, tasks=tasks)
    results = dataset.evaluate()
    assert results.errored_tasks == []
    is_open = [it.task("is_kitchen").passed for it in results]
    assert [it.task("expert").verdict != "skipped" for it in results] == is_open
    assert endpoint.stats()["requests"] == 12 + sum(map(bool, is_open))
    assert all(set(it.task("classify").reply) == {"name", "reason", "confidence"} for it in results)
    assert dataset.evaluate().run.answers == (12 + sum(map(bool, is_open)), 12 + sum(map(bool, is_open)))


@pytest.mark.parametrize(("provider", "path"), [("gemini", "/v1beta/models/m:generateContent"), ("openai", "/v1/chat/completions")])
def test_a_model_answers_and_its_answers_are_judged(provider: str, path: str, endpoint: Endpoint) -> None:
    agent = Agent(Provider.of(provider))
    answers = [agent.execute_prompt(prompt=prompt(provider).bind("question", f"Question {n}?"), output_type=Department) for n in range(4)]
    records = [
        GenAIEvalRecord(context={"question": f"Question {n}?", "answer": it.structured_output}, id=f"q{n}")
        for n, it in enumerate(answers)
    ]
    tasks = [
        AssertionTask(
            id="has_reason",
            field_path="answer.reason",
            operator=ComparisonOperator.IsString,
            expected_value=True,
            condition=True,
        ),
        LLMJudgeTask(
            id="grade",
            prompt=Prompt("Grade this: ${question} ${answer}", "m", Provider.of(provider), output_type=Score),
            expected_value=0,
            operator=ComparisonOperator.GreaterThanOrEqual,
            field_path="score",
            depends_on=["has_reason"],
        ),
        AssertionTask(
            id="explained",
            field_path="grade.reason",
            operator=ComparisonOperator.IsString,
            expected_value=True,
            depends_on=["grade"],
        ),
    ]
    results = GenAIEvalDataset(records=records, tasks=tasks).evaluate()
    assert [it.id for it in results] == ["q0", "q1", "q2", "q3"]
    assert [[it.task(id).verdict for id in ("has_reason", "grade", "explained")] for it in results] == [["passed"] * 3] * 4
    assert endpoint.paths() == [path] * 8
