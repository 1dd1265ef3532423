"""Runs on their way: threads, signals, event loops, processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat.errors import ModelError, UsageError

JUDGE = {
    "tasks": [
        {"id": "tone", "judge": {"prompt": "Is it polite? ${answer}"}, "operator": "equals", "expected_value": "yes", "field_path": None}
    ]
}
ROWS = [{"id": f"r{n}", "answer": f"please {n}"} for n in range(20)]


def judged(function: Any, rows: Any = None, **options: Any) -> jurat.Run:
    return jurat.Suite(JUDGE, models={"judge": function}).run(ROWS if rows is None else rows, **options)


def test_other_threads_go_on_while_the_engine_works() -> None:
    """The model is a server in this very process: it could not answer if the run kept the interpreter to itself."""

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = b'{"choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}], "model": "m"}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = {"model": "openai/m", "base_url": f"http://127.0.0.1:{server.server_port}/v1"}
    try:
        assert judged(model, variables={"OPENAI_API_KEY": "k"}).pass_rate == 1
    finally:
        server.shutdown()


def test_a_model_is_a_function() -> None:
    seen: list[jurat.Question] = []

    def judge(question: jurat.Question) -> str:
        seen.append(question)
        return "yes"

    run = judged(judge, ROWS[:1])
    assert run.pass_rate == 1 and run.answers == (1, 0)
    assert (seen[0].case, seen[0].task, seen[0].prompt) == ("r0", "tone", "Is it polite? please 0")


def test_a_model_is_a_coroutine() -> None:
    together, most = 0, 0

    async def judge(question: jurat.Question) -> jurat.Reply:
        nonlocal together, most
        together += 1
        most = max(most, together)
        while most < 4:
            await asyncio.sleep(0.001)
        together -= 1
        return jurat.Reply(text="yes", tokens=(3, 1))

    assert judged(judge).pass_rate == 1
    assert most >= 4


def test_an_exception_in_a_model_is_an_error_with_its_traceback() -> None:
    def judge(question: jurat.Question) -> str:
        if question.case == "r1":
            raise LookupError("no such tone")
        return "yes"

    run = judged(judge, ROWS[:3])
    assert [it.verdict for it in run] == ["passed", "error", "passed"]
    assert "LookupError: no such tone" in run.case("r1").task("tone").message


def test_a_model_that_is_not_there_is_told() -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        judged("openai/gpt-5-mini", variables={"OPENAI_API_KEY": ""})
    with pytest.raises(UsageError, match="there is no option `colour`"):
        judged(lambda _: "yes", colour="red")


def test_an_event_loop_goes_on() -> None:
    async def both() -> tuple[jurat.Run, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(tick())
        run = await jurat.Suite(JUDGE, models={"judge": lambda _: "yes"}).run_async(ROWS)
        ticking.cancel()
        return run, ticks

    run, ticks = asyncio.run(both())
    assert run.pass_rate == 1 and ticks > 0


def test_a_run_works_inside_of_an_event_loop() -> None:
    async def inside() -> float | None:
        return judged(lambda _: "yes").pass_rate

    assert asyncio.run(inside()) == 1


def test_a_cancelled_task_stops_its_run() -> None:
    begun = threading.Event()
    released = threading.Event()

    def judge(_: jurat.Question) -> str:
        begun.set()
        released.wait(30)
        return "yes"

    async def cancelled() -> None:
        suite = jurat.Suite(JUDGE, models={"judge": judge})
        task = asyncio.create_task(suite.run_async(ROWS))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        released.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_runs_in_threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        rates = pool.map(lambda n: judged(lambda _: "yes", directory=_directory(n)).pass_rate, range(8))
    assert list(rates) == [1.0] * 8


def _directory(n: int) -> Path:
    path = Path(f"thread-{n}")
    path.mkdir()
    return path


def _in_a_child(n: int) -> float | None:
    os.chdir(_directory(n))
    return judged(lambda _: "yes").pass_rate


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_runs_in_other_processes(method: str) -> None:
    # What a forked process inherits has been at work already.
    assert judged(_later).pass_rate == 1
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_in_a_child, range(4)) == [1.0] * 4


async def _later(_: jurat.Question) -> str:
    await asyncio.sleep(0)
    return "yes"


def test_ctrl_c_ends_a_run_and_running_again_goes_on(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import signal, sys
import jurat

def signalled(*_):
    print("signalled", flush=True)
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, signalled)

def judge(question):
    if question.case != "r0":
        print("asked", flush=True)
        sys.stdin.readline()
    return "yes"

suite = jurat.Suite({"tasks": [{"id": "t", "judge": {"prompt": "${answer}"}, "operator": "equals", "expected_value": "yes"}]}, models={"judge": judge})
try:
    suite.run([{"id": f"r{n}", "answer": str(n)} for n in range(1000)], concurrency=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    )
    process = subprocess.Popen(
        [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    # Nobody is answered before the run knows: what is in flight then is finished, and nothing else is asked.
    while process.stdout.readline() != "signalled\n":
        pass
    said, _ = process.communicate("\n" * 500, timeout=60)
    assert said.endswith("interrupted\n")
    run = jurat.open_run("latest", directory=tmp_path)
    assert run.stopped == "interrupted" and run.conclusion == "interrupted"


def test_ctrl_c_ends_a_run_over_endless_rows_at_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import itertools, signal, time
import jurat

at = []

def signalled(*_):
    at.append(time.perf_counter())
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, signalled)

def rows():
    for n in itertools.count():
        if n == 100_000:
            print("begun", flush=True)
        yield {"id": str(n), "n": n}

suite = jurat.Suite({"tasks": [{"id": "positive", "field_path": "n", "operator": "greater_than", "expected_value": -1}]})
try:
    suite.run(rows(), progress=False)
except KeyboardInterrupt:
    print(time.perf_counter() - at[0], flush=True)
"""
    )
    process = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    # Rows never end, so a run that judges all that was read ahead, or waits for its source, takes longer than any limit. It takes a tenth of a second on an
    # idle machine.
    delay, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and float(delay) < 20
    run = jurat.open_run("latest", directory=tmp_path)
    assert run.conclusion == "interrupted" and len(run) > 0


def test_progress_is_shown_to_who_wants_it(capsys: pytest.CaptureFixture[str]) -> None:
    judged(lambda _: "no", progress=True)
    assert "━━━━━━━━━━━━━━━━━━━━  100 %  20/20  20 failed" in capsys.readouterr().err
    judged(lambda _: "yes", progress=False)
    judged(lambda _: "yes")
    assert capsys.readouterr().err == ""


def test_threads_share_a_run_and_a_builder() -> None:
    """What an interpreter without the global lock would run at once: reading one run, and building one scenario."""
    from concurrent.futures import ThreadPoolExecutor

    from jurat.scenario import Question, Scenario

    run = judged(lambda _: "yes")
    scenario = Scenario("shared")

    def work(n: int) -> tuple[float | None, int]:
        scenario.add_node(f"n{n}", question=Question(f"{n}?", "yes"))
        return run.pass_rate, sum(1 for _ in run)

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(work, range(64)))
    assert found == {(1.0, 20)}
    scenario.set_entry("n0")
    for n in range(63):
        scenario.add_edge(f"n{n}", f"n{n + 1}")
    assert len(scenario.validate().nodes) == 64


def test_importing_imports_no_more_than_it_needs() -> None:
    program = "import sys; before = set(sys.modules); import jurat; print(*set(sys.modules) - before)"
    loaded = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split())
    assert "jurat._jurat" in loaded
    heavy = {"asyncio", "html", "json", "logging", "multiprocessing", "pandas", "pathlib", "polars", "pyarrow", "pydantic", "tempfile", "uuid"}
    assert not loaded & heavy


def test_importing_is_quick() -> None:
    timed = [
        int(subprocess.run([sys.executable, "-c", _TIMED], capture_output=True, text=True, check=True).stdout) for _ in range(5)
    ]
    # What is built for tests is larger than what is released, so this is an upper bound of CPU time.
    assert min(timed) < 80_000_000, timed


_TIMED = """
import time
start = time.process_time_ns()
import jurat
print(time.process_time_ns() - start)
"""
