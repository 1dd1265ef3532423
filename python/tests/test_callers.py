"""Who runs a suite: the event loop and the context variables of the caller, and how a program ends."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import pickle
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import jurat
from jurat.errors import UsageError
from jurat.evaluate import EvaluatorTask, GenAIEvalDataset
from jurat.scenario import END, Question, Scenario, ScenarioOutcomeCriterion

SAFE = {"id": "safe", "evaluate": None, "field_path": "score", "operator": "greater_than", "expected_value": 0}
trace: contextvars.ContextVar[str] = contextvars.ContextVar("trace", default="lost")


def suite_of(function: Any) -> jurat.Suite:
    return jurat.Suite({"tasks": [{**SAFE, "evaluate": function}]})


class TestEventLoops:
    def test_coroutines_are_awaited_on_the_loop_of_the_caller(self) -> None:
        async def main() -> jurat.Run:
            loop, ready = asyncio.get_running_loop(), asyncio.Event()

            async def waits(n: int) -> float:
                assert asyncio.get_running_loop() is loop
                await ready.wait()
                return 1.0

            running = asyncio.ensure_future(suite_of(waits).run_async([{"n": n} for n in range(5)]))
            loop.call_later(0.05, ready.set)
            return await asyncio.wait_for(running, 30)

        assert asyncio.run(main()).passed

    def test_datasets_and_scenarios_do_so_too(self) -> None:
        async def main() -> tuple[bool, list[Any]]:
            loop, loops = asyncio.get_running_loop(), []

            async def says(question: jurat.Question) -> str:
                loops.append(asyncio.get_running_loop() is loop)
                return "Yes"

            async def scores(n: int) -> float:
                loops.append(asyncio.get_running_loop() is loop)
                return 1.0

            scenario = Scenario("there")
            scenario.add_node("ask", question=Question("Are you there?", "Yes"))
            scenario.add_edge("ask", END)
            scenario.set_entry("ask")
            result = await scenario.validate().run_async(subject=says)
            task = EvaluatorTask("scored", scores, 0, "score", "greater_than")
            results = await GenAIEvalDataset([{"n": 1}], [task]).evaluate_async()
            return result.history[0].verify_result is True and results.run.passed, loops

        assert asyncio.run(main()) == (True, [True, True])

    def test_so_is_code_of_every_kind(self) -> None:
        async def main() -> list[tuple[str, bool, str]]:
            loop, seen = asyncio.get_running_loop(), []
            trace.set("span")

            def noted(kind: str, returned: Any) -> Any:
                async def code(*_: Any) -> Any:
                    seen.append((kind, asyncio.get_running_loop() is loop, trace.get()))
                    return returned

                async def of_two(accumulated: Any, parsed: Any) -> Any:
                    return await code()

                return of_two if kind in ("update", "condition") else code

            agents = {"helper": noted("agent", "done")}
            check = {"id": "said", "check": {"kind": "final_response_present"}}
            await jurat.Suite({"cases": [{"id": "c", "task": "Do it."}], "tasks": [check]}, agents=agents).run_async()
            scenario = Scenario("there")
            scenario.add_node("a", question=Question("a?", "yes"), state_update=noted("update", {}))
            scenario.add_node("b", question=Question("b?", "yes"))
            scenario.add_edge("a", "b", when=noted("condition", True))
            scenario.add_edge("a", END)
            scenario.set_entry("a")
            scenario.add_outcome_criterion(ScenarioOutcomeCriterion("stays", evaluate=noted("outcome", True)))
            await scenario.validate().run_async(subject=noted("model", "yes"))
            return seen

        kinds = ("agent", "model", "update", "condition", "model", "outcome")
        assert asyncio.run(main()) == [(it, True, "span") for it in kinds]

    def test_the_threads_of_the_caller_are_not_occupied(self) -> None:
        release = threading.Event()

        def blocks(n: int) -> float:
            release.wait(30)
            return 1.0

        async def main() -> None:
            suite = suite_of(blocks)
            runs = [asyncio.ensure_future(suite.run_async([{"n": n}])) for n in range(40)]
            await asyncio.sleep(0)
            # The executor of the loop has few threads; were they waiting for runs, this would wait for ever.
            await asyncio.wait_for(asyncio.to_thread(release.set), 30)
            await asyncio.gather(*runs)

        asyncio.run(main())

    def test_a_loop_that_is_gone_is_an_error_of_the_case(self) -> None:
        async def never(n: int) -> float:
            await asyncio.sleep(3600)
            return 1.0

        async def main() -> None:
            await asyncio.wait_for(suite_of(never).run_async([{"n": 1}]), 0.2)

        with pytest.raises((asyncio.TimeoutError, TimeoutError)):
            asyncio.run(main())


class TestContextVariables:
    def test_functions_and_coroutines_see_those_of_the_caller(self) -> None:
        seen: list[str] = []

        def plain(n: int) -> float:
            seen.append(trace.get())
            trace.set("changed by a call")
            return 1.0

        async def awaited(n: int) -> float:
            seen.append(trace.get())
            await asyncio.sleep(0)
            seen.append(trace.get())
            return 1.0

        trace.set("span")
        suite_of(plain).run([{"n": n} for n in range(3)])
        suite_of(awaited).run([{"n": 1}])
        asyncio.run(suite_of(awaited).run_async([{"n": 1}]))
        assert seen == ["span"] * 7
        assert trace.get() == "span"

    def test_runs_at_the_same_time_have_their_own(self) -> None:
        async def named(name: str) -> float:
            await asyncio.sleep(0.001)
            return 1.0 if trace.get() == name else 0.0

        async def one(suite: jurat.Suite, name: str) -> jurat.Run:
            trace.set(name)
            return await suite.run_async([{"id": str(n), "name": name} for n in range(10)])

        async def main() -> list[jurat.Run]:
            suite = suite_of(named)
            return await asyncio.gather(*(one(suite, f"run {n}") for n in range(4)))

        assert all(it.passed for it in asyncio.run(main()))


def ended(program: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, **options)


class TestEnds:
    def test_a_program_that_used_a_coroutine_ends_without_a_word(self) -> None:
        done = ended(
            "import jurat\n"
            "async def f(n): return 1.0\n"
            "task = {'id': 't', 'evaluate': f, 'field_path': 'score', 'operator': 'greater_than', 'expected_value': 0}\n"
            "assert jurat.Suite({'tasks': [task]}).run([{'n': 1}]).passed"
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestFunctions:
    def test_positional_only_parameters(self) -> None:
        def strict(output: str, /, limit: int = 5) -> float:
            return len(output) / limit

        (case,) = jurat.Suite({"tasks": [{**SAFE, "evaluate": strict}]}).run([{"output": "Hello"}])
        assert case["safe"].score == 1.0

    def test_two_lambdas_are_two_evaluators(self) -> None:
        tasks = [{**SAFE, "id": "one", "evaluate": lambda n: n}, {**SAFE, "id": "two", "evaluate": lambda n: -n}]
        (case,) = jurat.Suite({"tasks": tasks}).run([{"n": 1}])
        assert [(it.id, it.verdict) for it in case.tasks] == [("one", "passed"), ("two", "failed")]

    def test_a_plain_function_is_a_task_of_a_dataset(self) -> None:
        def size(answer: str) -> int:
            return len(answer)

        (case,) = GenAIEvalDataset([{"answer": "Hello"}], [size]).evaluate()
        assert case["size"].score == 5
        with pytest.raises(UsageError, match="a task is an `AssertionTask`, an `LLMJudgeTask`, an `EvaluatorTask` or a function, not a `str`"):
            GenAIEvalDataset([], ["size"])  # type: ignore[list-item]

    def test_a_traceback_begins_with_the_code_of_the_caller(self) -> None:
        def fragile(n: int) -> float:
            raise LookupError("no such number")

        (case,) = suite_of(fragile).run([{"n": 1}])
        lines = case["safe"].message.splitlines()
        assert lines[0] == "`fragile`: LookupError: no such number"
        assert "fragile" in next(it for it in lines if it.strip().startswith("File"))

    def test_a_lambda_is_refused_by_pickle_also_where_cloudpickle_is_loaded(self) -> None:
        cloudpickle = pytest.importorskip("cloudpickle")
        suite = jurat.Suite({"tasks": [{**SAFE, "evaluate": lambda n: n}]})
        with pytest.raises(UsageError, match="is a function that other processes cannot find by its name"):
            pickle.dumps(suite)
        assert pickle.loads(cloudpickle.dumps(suite)).run([{"n": 1}]).passed


class TestLogging:
    def test_a_run_that_ended_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "jurat"):
            run = suite_of(lambda n: n).run([{"n": 1}])
        assert caplog.messages == [f"run {run.id} ended with 1 cases: passed"]

    def test_requests_that_fail_and_are_made_again_are_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        n_asked = 0
        both_logged = threading.Event()

        class Seen(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if sum("a request failed" in it for it in caplog.messages) == 2:
                    both_logged.set()

        class Server(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                nonlocal n_asked
                n_asked += 1
                self.rfile.read(int(self.headers["content-length"]))
                # The third is answered once the first two are in the log: a failure is logged while its request waits to be made again.
                assert n_asked < 3 or both_logged.wait(60)
                body = b'{"choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}], "model": "m"}'
                self.send_response(429 if n_asked < 3 else 200)
                self.send_header("retry-after", "0")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        judge = {"id": "tone", "judge": {"prompt": "${n}"}, "field_path": None, "operator": "equals", "expected_value": "yes"}
        model = {"model": "openai/m", "base_url": f"http://127.0.0.1:{server.server_port}/v1"}
        # It comes after the handler of `caplog`, which has the message by then.
        seen = Seen()
        logging.getLogger().addHandler(seen)
        try:
            with caplog.at_level(logging.DEBUG, "jurat"):
                run = jurat.Suite({"tasks": [judge]}, models={"judge": model}).run([{"id": "a", "n": 1}], variables={"OPENAI_API_KEY": "k"})
        finally:
            logging.getLogger().removeHandler(seen)
            server.shutdown()
        assert run.passed
        failed = [it for it in caplog.messages if "a request failed" in it]
        assert len(failed) == 2 and all(it.startswith("task `tone` of `a`") and "429" in it for it in failed)


def test_what_is_in_flight_is_not_what_waits_for_its_turn() -> None:
    def slow(question: jurat.Question) -> str:
        time.sleep(0.01)
        return "yes"

    most = 0
    suite = jurat.Suite(
        {"tasks": [{"id": "tone", "judge": {"prompt": "${n}"}, "field_path": None, "operator": "equals", "expected_value": "yes"}]},
        models={"judge": slow},
    )
    running = suite._started([{"n": n} for n in range(40)], {"concurrency": 4}, jurat._called.Caller())
    while running.wait_for(0.005) is None:
        most = max(most, running.progress()["in_flight"])
    assert 0 < most <= 4
