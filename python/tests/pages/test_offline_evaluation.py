"""What the page "Offline GenAI Evaluation" of Scouter promises, a test for each sentence."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import jurat
from jurat.errors import PlanWarning, UsageError
from jurat.evaluate import AssertionTask, ComparisonOperator, GenAIEvalDataset, GenAIEvalResults, LLMJudgeTask
from jurat.genai import Prompt
from jurat.logging import LoggingConfig, LogLevel, RustyLogger
from jurat.queue import GenAIEvalRecord

pydantic = pytest.importorskip("pydantic")


class Category(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    category: Literal["kitchen", "bath", "outdoor"]
    reason: str
    confidence: float


class Expert(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    is_suitable: bool
    reason: str
    score: int


def prompt(text: str, output_type: Any) -> Prompt:
    return Prompt(messages=text, model="m", provider="ollama", output_type=output_type)


def classification(**more: Any) -> LLMJudgeTask:
    return LLMJudgeTask(
        id="cc",
        prompt=prompt("Which category? ${user_input}", Category),
        expected_value=None,
        operator=ComparisonOperator.IsNotEmpty,
        field_path="category",
        **more,
    )


def chain(category: str) -> list[LLMJudgeTask | AssertionTask]:
    """A gate, an expert behind it, and its score."""
    gate, expert = f"is_{category}", f"{category}_expert"
    return [
        AssertionTask(
            id=gate, field_path="cc.category", operator=ComparisonOperator.Equals, expected_value=category, depends_on=["cc"], condition=True
        ),
        LLMJudgeTask(
            id=expert,
            prompt=prompt(f"Are you an expert of {category}? ${{agent_response}}", Expert),
            expected_value=True,
            operator=ComparisonOperator.Equals,
            field_path="is_suitable",
            depends_on=[gate],
        ),
        AssertionTask(
            id=f"{category}_score",
            field_path=f"{expert}.score",
            operator=ComparisonOperator.GreaterThanOrEqual,
            expected_value=7,
            depends_on=[expert],
        ),
    ]


class Judges:
    """The model of all prompts, and how often each was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, question: jurat.Question) -> dict[str, Any]:
        self.asked[str(question.task)] += 1
        if question.task == "cc":
            category = next(it for it in ("kitchen", "bath", "outdoor") if it in question.prompt)
            return {"category": category, "reason": "by its words", "confidence": 0.95}
        return {"is_suitable": True, "reason": "fine", "score": 8}


RECORDS = [
    GenAIEvalRecord(context={"user_input": f"about {it}", "agent_response": json.dumps({"answer": it, "notes": ["careful"]})}, id=it)
    for it in ("kitchen", "outdoor")
]


def evaluated(tasks: list[Any], records: Any = RECORDS) -> tuple[GenAIEvalResults, Judges]:
    judges = Judges()
    return GenAIEvalDataset(records, tasks, models={"judge": judges}).evaluate(), judges


ALL = [classification(), *chain("kitchen"), *chain("bath"), *chain("outdoor")]


def verdicts(results: GenAIEvalResults, record: str) -> dict[str, str]:
    return {it.id: it.verdict for it in results[record].tasks}


def test_downstream_tasks_only_execute_if_the_conditional_task_passes() -> None:
    results, judges = evaluated(ALL)
    found = verdicts(results, "kitchen")
    assert [found[it] for it in ("is_kitchen", "kitchen_expert", "kitchen_score")] == ["passed"] * 3
    assert [found[it] for it in ("bath_expert", "bath_score", "outdoor_expert", "outdoor_score")] == ["skipped"] * 4
    assert judges.asked == {"cc": 2, "kitchen_expert": 1, "outdoor_expert": 1}, "this prevents unnecessary LLM calls"


def test_a_judge_may_be_a_gate_itself() -> None:
    results, _ = evaluated([classification(condition=True), *chain("kitchen")])
    assert verdicts(results, "kitchen")["kitchen_expert"] == "passed"


def test_each_task_only_sees_the_base_context_and_its_direct_dependencies() -> None:
    later = AssertionTask(id="later", field_path="cc.category", operator=ComparisonOperator.IsString, depends_on=["kitchen_expert"])
    with pytest.warns(PlanWarning, match=r"\[plan::not_a_dependency\]"):
        dataset = GenAIEvalDataset(RECORDS, [classification(), *chain("kitchen"), later], models={"judge": Judges()})
    assert "plan::not_a_dependency" in [it["code"] for it in dataset.suite.problems]
    assert dataset.evaluate()["kitchen"]["later"].verdict == "error"


def test_the_output_of_an_assertion_is_true_in_the_context_of_what_depends_on_it() -> None:
    sees = AssertionTask(id="sees", field_path="is_kitchen", operator=ComparisonOperator.Equals, expected_value=True, depends_on=["is_kitchen"])
    results, _ = evaluated([classification(), *chain("kitchen"), sees])
    assert results["kitchen"]["sees"].passed


def test_a_prompt_may_use_the_output_of_a_dependency() -> None:
    said: list[str] = []

    def judge(question: jurat.Question) -> dict[str, Any]:
        said.append(question.prompt)
        return Judges()(question)

    uses = LLMJudgeTask(
        id="uses", prompt=prompt("It was ${cc.category}: ${user_input}", Expert), expected_value=True, field_path="is_suitable",
        operator=ComparisonOperator.Equals, depends_on=["cc"],
    )  # fmt: skip
    GenAIEvalDataset(RECORDS[:1], [classification(), uses], models={"judge": judge}).evaluate()
    assert "It was kitchen: about kitchen" in said


def test_explain_shows_the_reconstructed_context_of_a_task() -> None:
    results, _ = evaluated(ALL)
    shown = results.explain("kitchen", "kitchen_score")
    assert "kitchen_expert" in shown and "user_input" in shown and "is_kitchen: not a direct dependency" in shown


def test_print_execution_plan_prints_stages_and_dependencies(capsys: pytest.CaptureFixture[str]) -> None:
    GenAIEvalDataset(RECORDS, ALL, models={"judge": Judges()}).print_execution_plan()
    shown = capsys.readouterr().out
    assert "10 tasks in 4 stages" in shown and "is_kitchen" in shown and "standard input" not in shown


def test_as_table_displays_a_summary_and_detailed_task_results(capsys: pytest.CaptureFixture[str]) -> None:
    results, _ = evaluated(ALL)
    results.as_table()
    summary = capsys.readouterr().out
    results.as_table(show_tasks=True)
    detailed = capsys.readouterr().out
    assert "kitchen_score" in summary and len(detailed) > len(summary)
    assert "skipped" in detailed


def test_different_models_are_evaluated_side_by_side() -> None:
    suite = jurat.Suite(
        {
            "ask": {"prompt": "${question}", "model": "subject"},
            "models": {"subject": ["call/small", "call/large"]},
            "tasks": [{"id": "right", "field_path": "output", "operator": "equals", "expected_value": "4"}],
        },
        models={"small": lambda question: "5", "large": lambda question: "4"},
    )
    run = suite.run([{"id": "sum", "question": "2 + 2?"}])
    assert {it.subject: it.verdict for it in run} == {"call/small": "failed", "call/large": "passed"}


@dataclass
class Exchange:
    user_input: str
    agent_response: str


class Talk(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    user_input: str
    agent_response: str


@pytest.mark.parametrize("context", [Exchange("q", "a"), Talk(user_input="q", agent_response="a"), {"user_input": "q", "agent_response": "a"}])
def test_a_record_contains_the_context_to_evaluate(context: Any) -> None:
    task = AssertionTask(id="said", field_path="agent_response", operator=ComparisonOperator.Equals, expected_value="a")
    results, _ = evaluated([task], [GenAIEvalRecord(context=context, id="r")])
    assert results["r"]["said"].passed


def test_field_path_reads_from_the_reconstructed_context() -> None:
    task = AssertionTask(id="careful", field_path="agent_response.notes[0]", operator=ComparisonOperator.Equals, expected_value="careful")
    nested, text = {"answer": "yes", "notes": ["careful"]}, RECORDS[0].context["agent_response"]
    results, _ = evaluated([task], [GenAIEvalRecord({"agent_response": it}, id=str(n)) for n, it in enumerate((nested, text))])
    assert results["0"]["careful"].passed
    assert "`agent_response` is text, so it has no `notes`" in results["1"]["careful"].message


def test_a_reply_that_does_not_fit_its_output_type_is_an_error_and_never_a_failure() -> None:
    dataset = GenAIEvalDataset(RECORDS[:1], [classification()], models={"judge": lambda question: {"category": "garage"}})
    assert dataset.evaluate()["kitchen"]["cc"].verdict == "error"


def test_the_logger_is_configured_by_level(capsys: pytest.CaptureFixture[str]) -> None:
    logger = RustyLogger.get_logger(LoggingConfig(show_threads=False, log_level=LogLevel.Debug))
    logger.debug("{} records", 3)
    assert capsys.readouterr().out == "DEBUG jurat: 3 records\n"


def test_bind_leaves_the_original_prompt_and_refuses_a_name_that_it_does_not_have() -> None:
    first = prompt("Is ${answer} right in ${place}?", Expert)
    bound = first.bind(answer="42").bind("place", "Rome")
    assert (bound.messages, first.parameters) == (["Is 42 right in Rome?"], ["answer", "place"])
    with pytest.raises(UsageError, match="the prompt has no place `anwser`; it has answer, place"):
        first.bind(anwser="42")


@pytest.mark.parametrize(
    ("depends_on", "code"), [(["nothing"], "plan::unknown_dependency"), (["b"], "plan::cycle")], ids=["unknown task", "cycle"]
)
def test_what_is_wrong_with_dependencies_is_reported_when_the_dataset_is_made(depends_on: list[str], code: str) -> None:
    a = AssertionTask(id="a", field_path="x", operator=ComparisonOperator.IsNull, depends_on=depends_on)
    b = AssertionTask(id="b", field_path="x", operator=ComparisonOperator.IsNull, depends_on=["a"])
    with pytest.raises(jurat.SuiteError) as raised:
        GenAIEvalDataset([], [a, b])
    assert code in [it["code"] for it in raised.value.problems]


def test_results_have_the_order_of_the_records_and_are_found_by_record_id() -> None:
    task = AssertionTask(id="n", field_path="x", operator=ComparisonOperator.IsNumeric)
    records = [GenAIEvalRecord({"x": n}, id=f"r{n}") for n in range(700, 0, -1)]
    results, _ = evaluated([task], records)
    assert [it.id for it in results] == [it.record_id for it in records]
    assert results["r5"].id == "r5"


def test_a_label_that_a_judge_never_gives_is_a_warning() -> None:
    gate = AssertionTask(id="gate", field_path="cc.category", operator=ComparisonOperator.Equals, expected_value="kichen", depends_on=["cc"])
    with pytest.warns(PlanWarning, match=r"kichen.*\[plan::outside_enum\]"):
        GenAIEvalDataset(RECORDS, [classification(), gate], models={"judge": Judges()})


def answered(politeness: str, *, version: str) -> GenAIEvalResults:
    """What a version of a service answered to the same twelve questions."""
    polite = AssertionTask(id="polite", field_path="answer", operator=ComparisonOperator.Contains, expected_value="please")
    brief = AssertionTask(id="brief", field_path="answer", operator=ComparisonOperator.HasLengthLessThan, expected_value=40)
    records = [GenAIEvalRecord({"question": f"Question {n}?", "answer": f"{version}: {politeness}"}, id=f"q{n}") for n in range(12)]
    results: GenAIEvalResults = GenAIEvalDataset(records, [polite, brief]).evaluate(progress=False)
    return results


def test_regression_testing_ensures_that_new_model_versions_maintain_quality_standards() -> None:
    released = answered("please level its feet", version="v1")
    worse = jurat.compare(released, answered("level its feet", version="v2"))
    assert (worse.word, len(worse.regressions), worse.task("brief").word) == ("worse", 12, "not_shown")
    assert worse.regressions[0].tasks == ("polite",)
    same = jurat.compare(released, answered("please level it", version="v3"))
    assert (same.word, same.cases) == ("not_shown", ())
    standard = {"conditions": [{"id": "quality", "not_worse": 0.3}]}
    assert jurat.gate(answered("level its feet", version="v2"), base=released, policy=standard).verdict == "fail"
    assert jurat.gate(answered("please level it", version="v3"), base=released, policy=standard).verdict == "pass"


def test_model_comparison_evaluates_different_models_side_by_side() -> None:
    rows = [{"id": f"q{n}", "question": f"Question {n}?"} for n in range(12)]

    def polite(output: str) -> bool:
        return "please" in output

    run = jurat.evaluate({"gruff": lambda question: "No.", "kind": lambda question: "please wait"}, rows, [polite])
    assert [(it.subject, it.pass_rate) for it in run.subjects] == [("gruff", 0.0), ("kind", 1.0)]
    assert jurat.compare(run, by="subject").word == "better"


def test_records_without_ids_are_found_by_their_uid() -> None:
    task = AssertionTask(id="n", field_path="x", operator=ComparisonOperator.Equals, expected_value=1)
    records = [GenAIEvalRecord({"x": n}) for n in (1, 2)]
    results, _ = evaluated([task], records)
    assert [results[it.uid]["n"].passed for it in records] == [True, False]
