"""Inspect evaluates samples drawn at random with a scripted model; jurat imports the log and judges by the same scorers."""

from __future__ import annotations

import random
from typing import Any

import pytest
from conftest import Folder, agree

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Scorer, answer, choice, exact, f1, includes, match, model_graded_fact, pattern
from inspect_ai.solver import generate, multiple_choice

TARGETS = ["Lima", "5", "the Straße", "STRASSE", "-3.50", "B", "a", "İstanbul", "x-ray", "1,000", "Σίσυφος", "new york", "yes", "3.5"]
SHAPES = ["{}", "It is {}.", "{}!", " {} ", "ANSWER: {}", "Answer : {}\n", "ANSWER: no\nANSWER: {}", "{} or so", "(*{}*)", "The {}", "'{}' {}", "{}\n\nthat is it", "{}-{}", "", "$ {}"]
PATTERNS = [r"ANSWER: (\w+)", r"is (\S+)\.", r"\d+", r"(a)|(\d)", r"(?i)the (\w+)|(yes)", r"(\w+)-(\w+)"]

#: A scorer, and whether it measures or says `C` or `I`.
SCORERS: list[tuple[str, Any]] = [
    ("includes", lambda draw: includes(ignore_case=draw.random() < 0.5)),
    ("match", lambda draw: match(draw.choice(["begin", "end", "any", "exact"]), ignore_case=draw.random() < 0.5)),
    ("exact", lambda draw: exact()),
    ("f1", lambda draw: f1(stop_words=draw.choice([None, ["it", "Is"]]))),
    ("pattern", lambda draw: pattern(draw.choice(PATTERNS), ignore_case=draw.random() < 0.5, match_all=draw.random() < 0.3)),
    ("answer", lambda draw: answer(draw.choice(["letter", "word", "line"]))),
]


def target(draw: random.Random) -> str | list[str]:
    drawn = [draw.choice(TARGETS) for _ in range(draw.choice([1, 1, 1, 2]))]
    return drawn if len(drawn) > 1 else drawn[0]


def said(draw: random.Random, wanted: str | list[str]) -> str:
    name = wanted if isinstance(wanted, str) else draw.choice(wanted)
    name = draw.choice([name, name, name.upper(), name.lower(), draw.choice(TARGETS)])
    return draw.choice(SHAPES).replace("{}", name)


def outputs(texts: list[str], draw: random.Random) -> list[ModelOutput]:
    """Answers that say what they used: else tokens are counted with a table that is downloaded."""
    made = []
    for text in texts:
        output = ModelOutput.from_content("mockllm/model", text)
        read, written = draw.randint(1, 500), draw.randint(1, 90)
        output.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
        made.append(output)
    return made


def evaluated(folder: Folder, samples: list[Sample], texts: list[str], draw: random.Random, form: str, **task: Any) -> EvalLog:
    model = get_model("mockllm/model", custom_outputs=outputs(texts, draw))
    whole = Task(dataset=MemoryDataset(samples), name="drawn", **task)
    # One after the other: the answers are given in this order.
    [log] = eval(whole, model=model, log_dir=str(folder.path / "logs"), log_format=form, display="none", max_samples=1)
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize("form", ["eval", "json"])
@pytest.mark.parametrize("name", [name for name, _ in SCORERS])
def test_scorers_decide_as_in_inspect(folder: Folder, draw: random.Random, name: str, form: str) -> None:
    scorer: Scorer = dict(SCORERS)[name](draw)
    targets = [target(draw) for _ in range(60)]
    texts = [said(draw, it) for it in targets]
    samples = [Sample(id=f"s{ix}", input=f"Question {ix}", target=it) for ix, it in enumerate(targets)]
    log = evaluated(folder, samples, texts, draw, form, solver=generate(), scorer=scorer)
    report = folder.imported(str(log.location))
    assert [it["class"] for it in report["entries"] if it["what"].startswith("scorer")] == ["exact"], report
    folder.run()
    judged = {it["record"]: it for it in folder.exported("jsonl") if it["task"] == name}
    differing = []
    for sample in log.samples or []:
        [recorded] = (sample.scores or {}).values()
        ours = judged[f"{sample.id}.1"]
        found = ours["score"] if name == "f1" else ours["label"]
        if found != recorded.value:
            differing.append([sample.output.completion, sample.target, recorded.value, found, ours["message"]])
    agree(differing, len(judged), 60)


def test_what_a_sample_used_and_said_is_there(folder: Folder, draw: random.Random) -> None:
    samples = [Sample(id=f"s{ix}", input=f"Frage {ix} 日本", target="x", metadata={"n": ix}) for ix in range(20)]
    texts = [said(draw, "x y") for _ in range(40)]
    log = evaluated(folder, samples, texts, draw, "eval", solver=generate(), scorer=includes(), epochs=2)
    folder.imported(str(log.location))
    runs = {it["identity"]["run_id"]: it for it in folder.lines("out/runs.jsonl")}
    differing = []
    for sample in log.samples or []:
        run = runs[f"{sample.id}.{sample.epoch}"]
        [usage] = sample.model_usage.values()
        theirs = [usage.input_tokens, usage.output_tokens, usage.total_tokens, sample.input, sample.metadata, sample.output.completion]
        tokens = run["usage"]["normalized"]
        about = run["runner_metadata"]
        response = [it["content"] for it in run["trace"] if it["event_type"] == "final_output"]
        ours = [tokens["input_tokens"], tokens["output_tokens"], tokens["total_tokens"], about["input"], about["metadata"], *(response or [""])]
        if theirs != ours:
            differing.append([theirs, ours])
    agree(differing, len(runs), 40)


def test_choices_are_judged_by_their_letters(folder: Folder, draw: random.Random) -> None:
    samples = [Sample(id=f"s{ix}", input="Which?", choices=["one", "two", "three"], target=draw.choice("ABC")) for ix in range(30)]
    texts = [draw.choice(["ANSWER: {}", "I think.\nANSWER: {}", "ANSWER: {}.", "{}", "answer: {}"]).replace("{}", draw.choice("ABC")) for _ in samples]
    log = evaluated(folder, samples, texts, draw, "eval", solver=multiple_choice(), scorer=choice())
    folder.imported(str(log.location))
    folder.run()
    judged = {it["record"]: it["label"] for it in folder.exported("jsonl") if it["task"] == "choice"}
    recorded = {f"{it.id}.1": (it.scores or {})["choice"].value for it in log.samples or []}
    differing = [[it.output.completion, it.target, recorded[f"{it.id}.1"]] for it in log.samples or [] if judged[f"{it.id}.1"] != recorded[f"{it.id}.1"]]
    agree(differing, len(judged), 30)


def test_a_graded_scorer_is_a_ready_judge(folder: Folder, draw: random.Random) -> None:
    samples = [Sample(id=f"s{ix}", input=f"Q{ix}", target="Lima") for ix in range(4)]
    grader = get_model("mockllm/model", custom_outputs=outputs(["GRADE: C"] * 4, draw))
    log = evaluated(folder, samples, ["Lima"] * 4, draw, "eval", solver=generate(), scorer=model_graded_fact(model=grader))
    report = folder.imported(str(log.location))
    [entry] = [it for it in report["entries"] if it["what"].startswith("scorer")]
    assert entry["class"] in ("approximate", "dropped"), entry
    if entry["class"] == "approximate":
        reply = '{"reply": {"reason": "r", "label": "correct"}, "times": "*"}\n'
        folder.write("judge.jsonl", reply)
        folder.run("--model", "judge=script/judge.jsonl")
        judged = [it["verdict"] for it in folder.exported("jsonl") if it["task"] == "model_graded_fact"]
        assert judged == ["passed"] * 4
