"""Code of the caller's: evaluators, models, agents, conditions; plain and asynchronous."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat import _jurat
from jurat.agents import AgentTask
from jurat.errors import ScenarioError, SuiteError, UsageError
from jurat.evaluate import AssertionTask, ComparisonOperator, EvaluatorTask, GenAIEvalDataset
from jurat.evaluators import EvaluationResult, evaluator
from jurat.scenario import END, Question, Scenario, ScenarioOutcomeCriterion

ROWS = [{"id": f"r{n}", "answer": "word " * n} for n in range(4)]


@evaluator(outputs=[{"name": "size", "values": [{"label": "short", "score": 1.0}, {"label": "long", "score": 0.0}]}])
def size(answer: str, limit: int = 2) -> dict[str, str]:
    n = len(answer.split())
    return {"label": "short" if n <= limit else "long", "explanation": f"{n} words"}


@evaluator(name="fragile")
async def fragile(answer: str) -> float:
    await asyncio.sleep(0)
    return 1 / len(answer.split())


class TestEvaluators:
    def test_a_decorated_function_is_a_task_of_a_dataset(self) -> None:
        results = GenAIEvalDataset(
            ROWS,
            [
                size,
                AssertionTask(
                    id="is_short", field_path="size.label", operator=ComparisonOperator.Equals, expected_value="short", depends_on=["size"]
                ),
            ],
        ).evaluate()
        assert [it.task("is_short").verdict for it in results] == ["passed", "passed", "passed", "failed"]
        measured = results["r3"].task("size")
        assert (measured.verdict, measured.label, measured.score, measured.explanation) == ("measured", "long", 0.0, "3 words")

    def test_its_result_is_compared(self) -> None:
        task = EvaluatorTask(
            id="short", evaluator=size, field_path="score", operator="Equals", expected_value=1, arguments={"answer": "said"}
        )
        assert GenAIEvalDataset([{"said": "one two"}, {"said": "one two three"}], [task]).evaluate().pass_rate == 0.5

    def test_a_suite_names_them_or_is_given_them(self) -> None:
        task = {"id": "short", "evaluate": "size", "field_path": "label", "operator": "equals", "expected_value": "short"}
        given = jurat.Suite({"tasks": [task]}, evaluators=[size])
        named = jurat.Suite({"tasks": [{**task, "evaluate": size}]})
        written = jurat.Suite({"tasks": [task], "evaluators": {"size": size}})
        assert [it.run(ROWS).pass_rate for it in (given, named, written)] == [0.75] * 3

    def test_parameters_are_bound_by_their_names(self) -> None:
        seen: list[dict[str, Any]] = []

        def everything(output: str, /, topic: str, *, note: str = "none", **others: Any) -> str:
            seen.append({"output": output, "topic": topic, "note": note, **others})
            return "seen"

        suite = jurat.Suite({}, evaluators=[everything])
        run = suite.run([{"output": "a", "topic": "b", "reference": "c", "unread": "d"}])
        assert next(iter(run)).task("everything").label == "seen"
        assert seen == [{"output": "a", "topic": "b", "note": "none", "reference": "c"}]
        missing = next(iter(suite.run([{"output": "a"}]))).task("everything")
        assert missing.verdict == "error" and "`topic`" in missing.message

    def test_what_it_raises_is_an_error_of_its_row_with_a_traceback(self) -> None:
        cases = list(jurat.Suite({}, evaluators=[fragile, size]).run(ROWS))
        assert [it.task("fragile").verdict for it in cases] == ["error", "measured", "measured", "measured"]
        assert [it.task("size").verdict for it in cases] == ["measured"] * 4
        message = cases[0].task("fragile").message
        assert "ZeroDivisionError: " in message and "in fragile\n    return 1 / len(answer.split())" in message

    def test_what_it_returns_goes_through_the_normaliser(self) -> None:
        def shape(returned: Any) -> Any:
            values = {"tuple": ("pass", 1.0), "result": EvaluationResult("it", label="fine", score=0.5), "bool": True, "list": ["a"]}
            return values[returned]

        run = jurat.Suite({"tasks": [{"id": "it", "evaluate": shape, "with": {"returned": "kind"}}]}).run(
            [{"id": it, "kind": it} for it in ("tuple", "result", "bool", "list")]
        )
        tasks = {it.id: it.task("it") for it in run}
        assert (tasks["result"].label, tasks["result"].score) == ("fine", 0.5)
        assert tasks["bool"].label == "True"
        assert [tasks[it].verdict for it in ("tuple", "list")] == ["error", "error"]
        assert "Valid shapes" in tasks["list"].message

    def test_two_of_a_name_are_refused(self) -> None:
        other = evaluator(name="size")(lambda answer: 1)
        with pytest.raises(UsageError, match="two evaluators are called `size`"):
            jurat.Suite({}, evaluators=[size, other])
        with pytest.raises(SuiteError, match="has no parameter `colour`"):
            jurat.Suite({"tasks": [{"id": "it", "evaluate": size, "with": {"colour": "answer"}}]})


class TestReplay:
    def test_nothing_is_called_again(self, tmp_path: Path) -> None:
        called: list[str] = []

        def counted(answer: str) -> int:
            called.append(answer)
            return len(answer)

        def agent(task: AgentTask) -> str:
            called.append(task.task)
            return "done"

        definition = {
            "cases": [{"id": "errand", "task": "Do it."}],
            "records": ROWS,
            "tasks": [
                {"id": "length", "evaluate": counted, "on": "records"},
                {"id": "said", "field_path": "final_response", "operator": "equals", "expected_value": "done", "on": "cases"},
            ],
        }
        suite = jurat.Suite(definition, agents={"helper": agent})
        run = suite.run()
        assert len(called) == 5
        again = suite.run(replay=run.path)
        assert len(called) == 5 and again.results_json() == run.results_json()


def told(agent: Any, case: dict[str, Any] | None = None, tasks: Any = (), **given: Any) -> jurat.Case:
    definition = {"cases": [{"id": "errand", "task": "Do it.", **(case or {})}], "tasks": list(tasks)}
    return next(iter(jurat.Suite({**definition, **given.pop("definition", {})}, agents={"helper": agent}, **given).run()))


SAID = {"id": "said", "field_path": "final_response", "operator": "equals", "expected_value": "done"}
CALLED = {"id": "called", "check": {"kind": "tool_called", "tool": "read", "arguments": {"path": "a.md"}}}
SUCCEEDED = {"id": "succeeded", "check": {"kind": "status_is", "expected": "success"}}


class TestAgents:
    def test_it_is_given_a_task_and_a_workspace(self, tmp_path: Path) -> None:
        (tmp_path / "template").mkdir()
        (tmp_path / "template" / "notes.txt").write_text("three notes")
        seen: list[AgentTask] = []

        def agent(task: AgentTask) -> str:
            seen.append(task)
            (task.workspace / "report.md").write_text((task.workspace / "notes.txt").read_text().upper())
            return "done"

        present = {"id": "written", "check": {"kind": "workspace_file_present", "relative_path": "report.md"}}
        case = told(agent, {"workspace": "template", "system": "Be brief.", "key_outputs": ["report.md"]}, [SAID, SUCCEEDED, present])
        assert [it.verdict for it in case.tasks] == ["passed"] * 3
        assert (seen[0].case, seen[0].task, seen[0].turn, seen[0].turns, seen[0].system) == ("errand", "Do it.", 0, 1, "Be brief.")
        assert not seen[0].workspace.exists()

    @pytest.mark.parametrize("kind", ["list", "generator", "coroutine", "async generator"])
    def test_it_tells_what_happened(self, kind: str) -> None:
        events: list[dict[str, Any]] = [
            {"type": "tool_call", "id": "1", "name": "read", "arguments": {"path": "a.md"}},
            {"type": "tool_result", "id": "1", "output": "text"},
        ]
        final = {"type": "final", "text": "done"}

        def listed(task: AgentTask) -> list[dict[str, Any]]:
            return [*events, final]

        def generated(task: AgentTask) -> Generator[dict[str, Any], None, str]:
            yield from events
            return "done"

        async def awaited(task: AgentTask) -> list[dict[str, Any]]:
            await asyncio.sleep(0)
            return [*events, final]

        async def streamed(task: AgentTask) -> AsyncIterator[dict[str, Any]]:
            for it in [*events, final]:
                await asyncio.sleep(0)
                yield it

        agents = {"list": listed, "generator": generated, "coroutine": awaited, "async generator": streamed}
        assert [it.verdict for it in told(agents[kind], tasks=[SAID, CALLED]).tasks] == ["passed", "passed"]

    def test_a_conversation_has_a_session(self) -> None:
        seen: list[tuple[int, str, str]] = []

        def agent(task: AgentTask) -> str:
            seen.append((task.turn, task.task, task.session))
            return "done"

        turns = {"task": None, "turns": ["First.", "Then."]}
        definition = {"cases": [{"id": "errand", "turns": turns["turns"]}]}
        assert told(agent, tasks=[SAID], definition=definition).verdict == "passed"
        assert [(turn, task) for turn, task, _ in seen] == [(0, "First."), (1, "Then.")]
        assert len({session for _, _, session in seen}) == 1

    def test_an_artifact_is_read_like_any_other(self) -> None:
        artifact = {
            "identity": {
                "schema_version": 1, "run_id": "r1", "case_id": "errand", "suite_id": "s", "run_profile_id": "p", "runner_type": "call",
            },
            "status": "success",
            "request": {"requested_model": "none"},
            "trace": [{"sequence": 0, "event_type": "final_output", "content": "done"}],
        }

        def agent(task: AgentTask) -> dict[str, Any]:
            (task.workspace / "out.txt").write_text("kept")
            return artifact

        present = {"id": "written", "check": {"kind": "workspace_file_present", "relative_path": "out.txt"}}
        assert [it.verdict for it in told(agent, {"key_outputs": ["out.txt"]}, [SAID, present]).tasks] == ["passed", "passed"]
        broken = told(lambda task: {"identity": {}, "trace": []}, tasks=[SAID]).task("said")
        assert broken.verdict == "error" and "no run artifact" in broken.message

    def test_what_it_raises_is_an_error_with_a_traceback_and_nothing_else_is_lost(self) -> None:
        async def agent(task: AgentTask) -> str:
            if task.case == "bad":
                raise ConnectionError("nobody there")
            return "done"

        definition = {"cases": [{"id": it, "task": "Do it."} for it in ("good", "bad", "fine")], "tasks": [SAID, SUCCEEDED]}
        run = jurat.Suite(definition, agents={"helper": agent}).run()
        assert [it.verdict for it in run] == ["passed", "error", "passed"]
        message = run.case("bad").task("said").message
        assert "ConnectionError: nobody there" in message and "in agent" in message

    def test_what_it_says_went_wrong_is_a_failure_of_the_agent(self) -> None:
        events = [{"type": "error", "message": "I give up", "source": "agent"}]
        case = told(lambda task: events, tasks=[SUCCEEDED])
        assert case.task("succeeded").verdict == "failed"
        assert told(lambda task: [{"type": "note"}], tasks=[SUCCEEDED]).task("succeeded").verdict == "failed"
        odd = told(lambda task: 7, tasks=[SUCCEEDED]).task("succeeded")
        assert odd.verdict == "error" and "it may return its final message as text" in odd.message

    def test_one_that_takes_too_long_is_stopped(self) -> None:
        async def agent(task: AgentTask) -> str:
            await asyncio.Event().wait()
            return "never"

        timed = {"id": "timed", "check": {"kind": "status_is", "expected": "timed_out"}}
        assert told(agent, {"limits": {"time": "50ms"}}, [timed]).verdict == "passed"

    def test_its_model_is_asked_through_jurat(self) -> None:
        def agent(task: AgentTask) -> str:
            import json
            import urllib.request

            assert task.model is not None
            body = json.dumps({"model": task.model["model"], "messages": [{"role": "user", "content": task.task}]}).encode()
            headers = {"authorization": f"Bearer {task.model['api_key']}", "content-type": "application/json"}
            request = urllib.request.Request(f"{task.model['base_url']}/v1/chat/completions", body, headers)
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as reply:
                said: str = json.load(reply)["choices"][0]["message"]["content"]
            return said

        case = told(
            agent, tasks=[SAID], models={"helper": lambda question: "done"}, definition={"agents": {"helper": {"model": "helper"}}}
        )
        assert case.task("said").verdict == "passed", case.task("said").message


class Meeting:
    """Whoever comes waits for the last one: one after the other they would never be through."""

    def __init__(self, n: int) -> None:
        self.n_missing = n
        self.is_complete: asyncio.Event | None = None

    async def join(self) -> None:
        self.is_complete = self.is_complete or asyncio.Event()
        self.n_missing -= 1
        if self.n_missing == 0:
            self.is_complete.set()
        await asyncio.wait_for(self.is_complete.wait(), 60)


class TestBatches:
    """Who calls is no thread of the engine: the engine goes on, and what waits is called together."""

    N = 50

    def test_fifty_coroutines_wait_at_the_same_time(self) -> None:
        meeting = Meeting(self.N)

        async def gathered(n: int) -> int:
            await meeting.join()
            return n

        rows = [{"n": n} for n in range(self.N)]
        run = jurat.Suite({}, evaluators=[gathered]).run(rows, concurrency=self.N)
        assert [it.task("gathered").score for it in run] == [float(n) for n in range(self.N)]

    def test_models_and_agents_wait_together_too(self) -> None:
        meeting = Meeting(self.N)

        async def meet(_: Any) -> str:
            await meeting.join()
            return "done"

        definition = {"cases": [{"id": f"c{n}", "task": "Do it."} for n in range(self.N)], "tasks": [SAID]}
        assert jurat.Suite(definition, agents={"helper": meet}).run(concurrency=self.N).pass_rate == 1
        meeting = Meeting(self.N)
        judge = {"id": "it", "judge": {"prompt": "${n}"}, "operator": "equals", "expected_value": "done"}
        rows = [{"n": n} for n in range(self.N)]
        assert jurat.Suite({"tasks": [judge]}, models={"judge": meet}).run(rows, concurrency=self.N).pass_rate == 1

    def test_what_waits_is_called_in_one_go(self) -> None:
        """The first call keeps the interpreter until all others wait. Whoever made it makes them, too, without leaving Python."""
        entries, calls, _ = _jurat.call_figures()

        def busy(n: int) -> int:
            while n == 0 and _jurat.call_figures()[2] < self.N - 1:
                pass
            return n

        interval = sys.getswitchinterval()
        sys.setswitchinterval(60)
        try:
            run = jurat.Suite({}, evaluators=[busy]).run([{"n": n} for n in range(self.N)], concurrency=self.N)
        finally:
            sys.setswitchinterval(interval)
        assert [it.task("busy").score for it in run] == [float(n) for n in range(self.N)]
        entered, called, waiting = _jurat.call_figures()
        # A second thread came to see whether the first was stuck.
        assert (called - calls, waiting) == (self.N, 0) and entered - entries <= 2

    def test_functions_that_block_do_not_wait_for_each_other(self) -> None:
        """A barrier that only all of them together open: called one after the other they would never be through."""
        barrier = threading.Barrier(8)

        def blocks(n: int) -> int:
            barrier.wait(60)
            return n

        run = jurat.Suite({}, evaluators=[blocks]).run([{"n": n} for n in range(8)], concurrency=8)
        assert [it.task("blocks").verdict for it in run] == ["measured"] * 8

    def test_conditions_updates_and_outcomes_are_called_so_too(self) -> None:
        async def later(accumulated: dict[str, Any], parsed: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"n": accumulated.get("n", 0) + 1}

        async def twice(state: Any) -> bool:
            await asyncio.sleep(0)
            return bool(state.accumulated["n"] < 2)

        async def turns(result: Any) -> bool:
            await asyncio.sleep(0)
            return bool(result.turn_count == 2)

        scenario = Scenario("patience")
        scenario.add_node("ask", question=Question("Are you there?", "Yes"), state_update=later)
        scenario.add_edge("ask", "ask", when=twice)
        scenario.add_edge("ask", END)
        scenario.set_entry("ask")
        scenario.add_outcome_criterion(ScenarioOutcomeCriterion(name="two", evaluate=turns))
        assert scenario.validate().run(subject=lambda _: "Yes").outcome_results == {"two": True}


class TestOtherProcesses:
    """Suites and scenarios go to other processes by what they were made from."""

    def test_scenarios_arrive_with_their_code(self) -> None:
        import pickle

        scenario = Scenario("patience", "Does it stay?", turn_limit=5)
        scenario.add_node("ask", question=Question("Are you there?", "Yes"), state_update=counted, note="first")
        scenario.add_edge("ask", "ask", when="lambda accumulated, parsed: accumulated['n'] < 3")
        scenario.add_edge("ask", END)
        scenario.set_entry("ask")
        scenario.add_outcome_criterion(ScenarioOutcomeCriterion(name="three", evaluate=three_turns))
        before = scenario.validate()
        after = pickle.loads(pickle.dumps(before))
        assert after.to_dict() == before.to_dict()
        assert after.run(subject=lambda _: "Yes").outcome_results == {"three": True}
        suite = jurat.Suite({}, models={"subject": yes}, scenarios=[before])
        assert next(iter(pickle.loads(pickle.dumps(suite)).run())).verdict == "passed"
        read = type(before).from_checkpoint(_jurat.to_json(before.to_checkpoint()))[0]
        assert pickle.loads(pickle.dumps(read)).to_dict() == read.to_dict()

    def test_code_without_a_name_is_told(self) -> None:
        import pickle

        scenario = Scenario("patience")
        scenario.add_node("ask", question=Question("Are you there?", "Yes"))
        scenario.add_edge("ask", "ask", when=lambda accumulated, parsed: False)
        scenario.add_edge("ask", END)
        scenario.set_entry("ask")
        tone = {"id": "tone", "judge": {"prompt": "${answer}"}, "operator": "equals", "expected_value": "yes"}
        with pytest.raises(ScenarioError, match="`when` of `ask -> ask` is a function that other processes cannot find by its name"):
            pickle.dumps(scenario.validate())
        for suite, what in (
            (jurat.Suite({"tasks": [tone]}, models={"judge": lambda _: "yes"}), "the model of `judge`"),
            (jurat.Suite({"tasks": [{"id": "it", "evaluate": lambda answer: 1}]}), "the evaluator `it`"),
            (jurat.Suite({"cases": [{"id": "it", "task": "Do it."}], "tasks": [SAID]}, agents={"helper": lambda _: "done"}), "the agent `helper`"),
        ):
            with pytest.raises(UsageError, match=f"{what} is a function that other processes cannot find"):
                pickle.dumps(suite)

    def test_batches_are_evaluated_in_processes_that_are_spawned(self) -> None:
        import multiprocessing

        import pyarrow

        suite = jurat.Suite(
            {"tasks": [{"id": "short", "evaluate": size, "field_path": "label", "operator": "equals", "expected_value": "short"}]}
        )
        batches = [pyarrow.RecordBatch.from_pylist(ROWS[start : start + 2]) for start in (0, 2)]
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            results = pool.starmap(jurat.evaluate_batch, [(suite, it) for it in batches])
        assert [it.num_rows for it in results] == [2, 2]
        verdicts = [verdict for it in results for verdict in it.column("verdict").to_pylist()]
        assert verdicts == ["passed", "passed", "passed", "failed"]


def counted(accumulated: dict[str, Any]) -> dict[str, Any]:
    return {"n": accumulated.get("n", 0) + 1}


def three_turns(result: Any) -> bool:
    return bool(result.turn_count == 3)


def yes(_: jurat.Question) -> str:
    return "Yes"
