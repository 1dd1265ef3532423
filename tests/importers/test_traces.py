"""SDKs send traces of conversations drawn at random to `jurat receive`; the runs that are imported say what was asked, answered and used."""

from __future__ import annotations

import http.server
import json
import os
import random
import subprocess
import threading
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from conftest import Folder, agree

import openai
from langfuse import Langfuse
from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor as GenAi
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

N_CONVERSATIONS = 25
TEXTS = ["Hello", "Was kostet das?", "日本の首都は？", '{"a": 1}', "two\nlines", "  spaces  ", "😀 emoji", "it's \"quoted\"", "a < b & c", "ﬁ"]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ["search", "get-sum"]]

Message = dict[str, Any]


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers each request with the next of the replies that were drawn."""

    replies: deque[Message] = deque()

    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(self.replies.popleft()).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[openai.OpenAI]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="sk-test", max_retries=0)
    server.shutdown()


@contextmanager
def receiver(folder: Folder) -> Iterator[OTLPSpanExporter]:
    """`jurat receive`, as something that spans are exported to."""
    words = [os.environ["JURAT_TEST_PROGRAM"], "receive", "-o", "traces", "--port", "0"]
    with subprocess.Popen(words, cwd=folder.path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = process.stdout.readline().removeprefix("listening on ").strip()
        try:
            yield OTLPSpanExporter(endpoint=address)
        finally:
            process.terminate()


def reply(draw: random.Random, may_call: bool) -> Message:
    """An answer of the endpoint: a text, or calls of tools."""
    message: Message = {"role": "assistant", "content": draw.choice(TEXTS)}
    if may_call and draw.random() < 0.5:
        calls = [
            {"id": f"call_{draw.getrandbits(40):x}", "type": "function", "function": {"name": draw.choice(["search", "get-sum"]), "arguments": json.dumps({"q": draw.choice(TEXTS), "n": draw.randint(0, 9)})}}
            for _ in range(draw.randint(1, 2))
        ]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    read, written = draw.randint(1, 900), draw.randint(1, 90)
    return {
        "id": f"chatcmpl-{draw.getrandbits(40):x}",
        "object": "chat.completion",
        "created": 1,
        "model": "drawn-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def conversation(model: openai.OpenAI, draw: random.Random) -> Message:
    """Holds a conversation; returns what a run of it must say."""
    said: list[Message] = [{"role": "system", "content": "Be brief."}] if draw.random() < 0.5 else []
    expected: list[Any] = [["system", "Be brief."]] if said else []
    used, last = [0, 0], None
    for _ in range(draw.randint(1, 3)):
        question = draw.choice(TEXTS)
        said.append({"role": "user", "content": question})
        expected.append(["user", question])
        for turn in range(3):
            answered = reply(draw, may_call=turn < 2)
            Endpoint.replies.append(answered)
            model.chat.completions.create(model="drawn", messages=said, tools=TOOLS, temperature=0.5)  # type: ignore[arg-type]
            used = [used[0] + answered["usage"]["prompt_tokens"], used[1] + answered["usage"]["completion_tokens"]]
            message = answered["choices"][0]["message"]
            said.append(message)
            if "tool_calls" not in message:
                last = message["content"]
                expected.append(["assistant", last])
                break
            for call in message["tool_calls"]:
                expected.append(["call", call["function"]["name"], json.loads(call["function"]["arguments"])])
            for call in message["tool_calls"]:
                found = draw.choice(TEXTS)
                said.append({"role": "tool", "tool_call_id": call["id"], "content": found})
                expected.append(["result", found])
    return {"events": expected, "used": used, "last": last}


def found_in(run: Message) -> Message:
    events: list[Any] = []
    last = None
    for event in run["trace"]:
        match event["event_type"]:
            case "message":
                events.append([event["role"], event["content"]])
            case "tool_call":
                events.append(["call", event["tool_name"], event.get("parsed_arguments")])
            case "tool_result":
                events.append(["result", event["output"]])
            case "final_output":
                last = event["content"]
    tokens = run["usage"]["normalized"]
    return {"events": events, "used": [tokens.get("input_tokens"), tokens.get("output_tokens")], "last": last}


def compared(folder: Folder, expected: dict[str, Message]) -> None:
    folder.imported("traces")
    runs = {it["identity"]["run_id"]: it for it in folder.lines("out/runs.jsonl")}
    assert runs.keys() == expected.keys()
    differing = [[wanted, found_in(runs[trace])] for trace, wanted in expected.items() if found_in(runs[trace]) != wanted]
    agree(differing, len(runs), N_CONVERSATIONS)


@pytest.mark.parametrize(
    ("instrumentor", "attributes"),
    [
        (OpenInference, {"openinference.span.kind": "AGENT"}),
        (GenAi, {"gen_ai.operation.name": "invoke_agent"}),
    ],
    ids=["openinference", "genai"],
)
def test_instrumented_calls_become_runs(
    folder: Folder,
    draw: random.Random,
    model: openai.OpenAI,
    monkeypatch: pytest.MonkeyPatch,
    instrumentor: Callable[[], Any],
    attributes: dict[str, str],
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    provider, expected = TracerProvider(), {}
    with receiver(folder) as exporter:
        # Small requests, so that traces are spread over several files.
        provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=7))
        instrumented = instrumentor()
        instrumented.instrument(tracer_provider=provider)
        try:
            for _ in range(N_CONVERSATIONS):
                with provider.get_tracer("tests").start_as_current_span("agent", attributes=attributes) as span:
                    trace = f"{span.get_span_context().trace_id:032x}"
                    expected[trace] = conversation(model, draw)
        finally:
            instrumented.uninstrument()
        provider.shutdown()
    compared(folder, expected)


def test_observations_of_langfuse_become_runs(folder: Folder, draw: random.Random, model: openai.OpenAI) -> None:
    expected = {}
    with receiver(folder) as exporter:
        langfuse = Langfuse(public_key="pk", secret_key="sk", base_url="http://127.0.0.1:9", span_exporter=exporter, tracer_provider=TracerProvider())
        for _ in range(N_CONVERSATIONS):
            with langfuse.start_as_current_observation(name="agent", as_type="agent") as span:
                expected[span.trace_id] = conversation(Recorded(model, langfuse), draw)  # type: ignore[arg-type]
        langfuse.flush()
        langfuse.shutdown()
    compared(folder, expected)


class Recorded:
    """A client whose calls are recorded as generations by hand, as programs without an instrumented client do."""

    def __init__(self, model: openai.OpenAI, langfuse: Langfuse) -> None:
        self.model, self.langfuse = model, langfuse
        self.chat = self.completions = self

    def create(self, **settings: Any) -> None:
        with self.langfuse.start_as_current_observation(
            name="llm", as_type="generation", model="drawn", input=settings["messages"]
        ) as generation:
            answered = self.model.chat.completions.create(**settings)
            assert answered.usage
            usage = {"input": answered.usage.prompt_tokens, "output": answered.usage.completion_tokens}
            output = answered.choices[0].message.model_dump(exclude_none=True)
            generation.update(output=output, usage_details=usage)
