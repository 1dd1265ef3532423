"""promptfoo evaluates tests drawn at random; jurat imports the configuration and the results, and must decide as promptfoo did."""

from __future__ import annotations

import csv
import http.server
import json
import os
import random
import subprocess
import threading
from typing import Any, Callable

from conftest import Folder, agree

Assertion = dict[str, Any]

WORDS = ["alpha", "Beta", "gamma", "DELTA", "Straße", "naïve", "İstanbul", "42", "3.5", "a.b", "x-y", "(ok)", "日本", "café", "I"]
SEPARATORS = [" ", " ", " ", ", ", "\n", "  ", ". "]
#: promptfoo reads braces as YAML where it looks for JSON in a text, and jurat does not, which the report says: none of these is YAML alone.
#: In results promptfoo stores variables that are JSON without their spaces, and none has any.
JSONS = ['{"a":1}', '{"a":{"b":[1,2]},"c":"x"}', "[1,2]", '"text"', "12", "null", '{"a": "1"', '{"a":1,"a":2}']
PATTERNS = ["[0-9]+", "^alpha", "beta$", r"\bgamma\b", r"\w+", r"\s\s", "(?:a|b)", "a{2}", "é", r"^\d+$", ".", "^.*$", r"\.", "[^a-z]", r"(\w)\1", "(?i)x", "(", "x{,2}", r"\u0061", "[a", r"a\-b", "^$", "(?<y>a)", "(?<=l)p", "(?!x)a"]
SCHEMAS: list[Any] = [
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "number"}}},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
    "type: object\nrequired: [c]\n",
]
CODE = ["output.length > 5", "output.includes('a') ? 0.5 : 0", "JSON.parse(output).a === 1", "context.vars.o === output", "const n = output.split(' ').length;\nreturn { pass: n > 1, score: n, reason: 'words' };", "output.toUpperCase() === output"]
PYTHON = ["len(output) > 5", "'a' in output", "0.4 if output.startswith('a') else 0", "context['vars']['o'] == output", "import json\nreturn {'pass': output.strip() == output, 'score': 0.7, 'reason': 'x'}"]


def text(draw: random.Random) -> str:
    """An answer: words, sometimes JSON or with JSON inside."""
    kind = draw.random()
    if kind < 0.15:
        return draw.choice(JSONS)
    words = "".join(draw.choice(WORDS) + draw.choice(SEPARATORS) for _ in range(draw.randint(1, 6)))
    if kind < 0.25:
        return words + draw.choice(JSONS)
    if kind < 0.35:
        return draw.choice([str.upper, str.lower, str.strip, lambda it: f" {it}\n"])(words)
    return words.rstrip() if kind < 0.8 else words


def part(draw: random.Random, answer: str) -> str:
    """A text to look for: often one that is there, or nearly."""
    if draw.random() < 0.4 or not answer.strip():
        return draw.choice([*WORDS, "{{o}}"])
    start = draw.randrange(len(answer))
    found = answer[start : start + draw.randint(1, 8)]
    found = draw.choice([str, str, str.lower, str.upper, str.strip])(found)
    return found if found.strip(" ,\n") and "{{" not in found else draw.choice(WORDS)


def parts(draw: random.Random, answer: str) -> Any:
    found = [part(draw, answer) for _ in range(draw.randint(1, 3))]
    return found if draw.random() < 0.6 else ", ".join(it for it in found)


def whole(draw: random.Random, answer: str) -> Any:
    if draw.random() < 0.3:
        try:
            return draw.choice([json.loads(answer) or answer, answer.replace(",", ", ")])
        except ValueError:
            pass
    return answer if draw.random() < 0.5 else draw.choice([answer.strip(), answer.lower(), part(draw, answer)])


#: What each type is given: the value and other members.
TYPES: dict[str, Callable[[random.Random, str], Assertion]] = {
    "contains": lambda draw, it: {"value": part(draw, it)},
    "icontains": lambda draw, it: {"value": part(draw, it)},
    "contains-any": lambda draw, it: {"value": parts(draw, it)},
    "contains-all": lambda draw, it: {"value": parts(draw, it)},
    "icontains-any": lambda draw, it: {"value": parts(draw, it)},
    "icontains-all": lambda draw, it: {"value": parts(draw, it)},
    "equals": lambda draw, it: {"value": whole(draw, it)},
    "starts-with": lambda draw, it: {"value": draw.choice([it[: draw.randint(1, 4)], part(draw, it)]) or "a"},
    "regex": lambda draw, it: {"value": draw.choice(PATTERNS)},
    "is-json": lambda draw, it: draw.choice([{}, {"value": draw.choice(SCHEMAS)}]),
    "contains-json": lambda draw, it: {},
    "levenshtein": lambda draw, it: {"value": part(draw, it), "threshold": draw.choice([0, 1, 3, 5, 20])},
    "word-count": lambda draw, it: {"value": draw.choice([1, 3, {"min": 2}, {"max": 3}, {"min": 1, "max": 4}])},
    "latency": lambda draw, it: {"threshold": draw.choice([1_000_000])},
    "cost": lambda draw, it: {"threshold": 1},
    "javascript": lambda draw, it: {"value": draw.choice(CODE)} | draw.choice([{}, {"threshold": 0.5}]),
    "python": lambda draw, it: {"value": draw.choice(PYTHON)} | draw.choice([{}, {"threshold": 0.5}]),
}


def assertion(draw: random.Random, answer: str, without: tuple[str, ...] = ()) -> Assertion:
    kind = draw.choice([it for it in TYPES if it not in without])
    made = {"type": kind} | TYPES[kind](draw, answer)
    if draw.random() < 0.3 and kind not in ("latency", "cost"):
        made["type"] = f"not-{kind}"
    return made


def evaluated(folder: Folder, config: dict[str, Any]) -> list[dict[str, Any]]:
    """What promptfoo makes of a configuration."""
    folder.write("promptfooconfig.json", config)
    node, promptfoo = os.environ["JURAT_TEST_NODE"], os.environ["JURAT_TEST_PROMPTFOO"]
    words = ["eval", "-c", "promptfooconfig.json", "-o", "results.json", "--no-cache", "--no-table", "--no-progress-bar"]
    quiet = {f"PROMPTFOO_DISABLE_{it}": "1" for it in ["TELEMETRY", "UPDATE", "SHARING", "REMOTE_GENERATION"]}
    environment = os.environ | quiet | {"PROMPTFOO_CONFIG_DIR": str(folder.path / "promptfoo"), "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0"}
    done = subprocess.run([node, promptfoo, *words], cwd=folder.path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder.path / "results.json").read_text(encoding="utf-8"))["results"]["results"]


def test_single_assertions_decide_as_in_promptfoo(folder: Folder, draw: random.Random) -> None:
    tests = []
    for _ in range(300):
        answer = text(draw)
        tests.append({"vars": {"o": answer}, "assert": [assertion(draw, answer)]})
    compared(folder, {"prompts": ["{{o | safe}}"], "providers": ["echo"], "tests": tests}, at_least=270)


def several(draw: random.Random, answer: str, depth: int = 0) -> list[Assertion]:
    """Assertions of a test, with weights and sets."""
    made = []
    for _ in range(draw.randint(1, 4)):
        # A score that is neither 0 nor 1 counts in the mean there, and not here, which the report says.
        one = assertion(draw, answer, without=("javascript", "python"))
        if depth < 1 and draw.random() < 0.25:
            one = {"type": "assert-set", "assert": several(draw, answer, depth + 1)}
            if draw.random() < 0.6:
                one["threshold"] = draw.choice([0, 0.3, 0.5, 0.66, 1])
        if draw.random() < 0.3:
            one["weight"] = draw.choice([2, 0.5, 3])
        made.append(one)
    return made


def with_thresholds(draw: random.Random, n: int) -> list[dict[str, Any]]:
    tests = []
    for _ in range(n):
        answer = text(draw)
        test: dict[str, Any] = {"vars": {"o": answer}, "assert": several(draw, answer)}
        if draw.random() < 0.5:
            test["threshold"] = draw.choice([0, 0.25, 0.5, 0.75, 1])
        tests.append(test)
    return tests


def compared(folder: Folder, config: dict[str, Any], at_least: int) -> None:
    """Evaluates a configuration there and here, by importing it and by importing the results."""
    results = evaluated(folder, config)
    for source, imported in (("promptfooconfig.json", from_config), ("results.json", from_results)):
        judged, dropped = imported(folder, source, results)
        # A test that lost an assertion is no longer the same: only what JavaScript or promptfoo refuse is dropped.
        wrong = [it for it in dropped if "refuses" not in it and "not a regular expression" not in it]
        assert not wrong, "\n".join(wrong)
        refused = [it for it in results if "Invalid regex" in json.dumps(it["gradingResult"])]
        differing = [
            [source, it["response"]["output"], it["testCase"]["assert"], it["testCase"].get("threshold"), it["success"], it.get("error"), ours]
            for it in results
            if it not in refused and it["failureReason"] != 2 and not is_folded(it)
            for ours in [judged.get((it["testIdx"], it["promptIdx"]), "nothing")]
            if ours != ("passed" if it["success"] else "failed")
        ]
        agree(differing, len(results) - len(refused), at_least)


def is_folded(result: dict[str, Any]) -> bool:
    """Whether it is a negated form without regard to case on a text with `İ`, which is two letters in lower case: the one difference that is left."""
    kinds = [it["type"] for it in result["testCase"]["assert"]]
    return "İ" in result["response"]["output"] and any(it.startswith("not-icontains") for it in kinds)


Judged = tuple[dict[tuple[int, int], str], list[str]]


def dropped_of(report: dict[str, Any]) -> list[str]:
    dropped = [f"{it['what']}: {it['why']}" for it in report["entries"] if it["class"] == "dropped"]
    # Without a threshold around it, a weight says nothing about verdicts; a set of which nothing is left is none.
    return [it for it in dropped if not it.startswith(("provider `echo`", "`weight: "))]


def from_config(folder: Folder, source: str, _: list[dict[str, Any]]) -> Judged:
    report = folder.imported(source)
    folder.run(*folder.echo)
    verdicts = {}
    for case in folder.exported("jsonl", "--columns", "record,prompt,case_verdict"):
        prompt = int(case["prompt"].removeprefix("prompt_")) - 1 if case.get("prompt") else 0
        verdicts[int(case["record"][1:]) - 1, prompt] = case["case_verdict"]
    return verdicts, dropped_of(report)


def from_results(folder: Folder, source: str, results: list[dict[str, Any]]) -> Judged:
    again = Folder(folder.path / "again")
    again.write("results.json", (folder.path / source).read_text(encoding="utf-8"))
    report = again.imported("results.json")
    again.run()
    verdicts = {it["record"]: it["case_verdict"] for it in again.exported("jsonl", "--columns", "record,case_verdict")}
    places = [(it["testIdx"], it["promptIdx"]) for it in results]
    return {place: verdicts[f"r{ix + 1}"] for ix, place in enumerate(places) if f"r{ix + 1}" in verdicts}, dropped_of(report)


def test_thresholds_weights_and_sets_decide_as_in_promptfoo(folder: Folder, draw: random.Random) -> None:
    default = {"assert": [{"type": "not-contains", "value": "zzz", "weight": 2}]}
    tests = with_thresholds(draw, 250)
    compared(folder, {"prompts": ["{{o | safe}}"], "providers": ["echo"], "defaultTest": default, "tests": tests}, at_least=200)


def test_assertions_of_tables_decide_as_in_promptfoo(folder: Folder, draw: random.Random) -> None:
    kinds = ["contains", "icontains", "starts-with", "contains-any", "contains-all", "levenshtein(3)", "is-json", "not-contains"]
    with (folder.path / "tests.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["o", "__expected1", "__expected2", "__description"])
        for ix in range(150):
            answer = " ".join(text(draw).split())
            cells = []
            for _ in range(2):
                kind = draw.choice(kinds)
                wanted = part(draw, answer).replace('"', "").strip() or "a"
                cells.append("is-json" if kind == "is-json" else f"{kind}: {wanted}")
            table.writerow([answer, cells[0], draw.choice([cells[1], ""]), f"test {ix}"])
    compared(folder, {"prompts": ["{{o | safe}}"], "providers": ["echo"], "tests": "file://tests.csv"}, at_least=140)


PROMPTS = ["{{o}} and {{ n }}", "{{ o | safe }}!", "{{o|upper}}", "{% if n > 3 %}many{% else %}few{% endif %} {{o}}", "{% for it in list %}{{ loop.index }}={{ it }};{% endfor %}", "{{ order.id }}/{{ order['name'] }}", "{{ missing }}|{{ o | trim }}", "{{ list | join(', ') }} {{ list[0] }}", "{{ list | length }}", "text\nwith $x and {brace}"]


def test_prompts_are_as_in_promptfoo(folder: Folder, draw: random.Random) -> None:
    tests = [
        {
            "vars": {"o": draw.choice([text(draw), "in {{n}}"]), "n": draw.randint(0, 9), "list": [draw.randint(0, 9), draw.choice(WORDS)], "order": {"id": draw.randint(0, 99), "name": draw.choice(WORDS)}},
            "assert": [{"type": "contains", "value": "a"}],
        }
        for _ in range(30)
    ]
    results = evaluated(folder, {"prompts": PROMPTS, "providers": ["echo"], "tests": tests})
    folder.imported("promptfooconfig.json")
    folder.run(*folder.echo)
    asked = {(it["case"], it["prompt"]): it["request"]["messages"] for it in folder.exported("effects")}
    differing = []
    for result in results:
        wanted = [{"role": "user", "text": result["prompt"]["raw"]}]
        found = asked.get((f"r{result['testIdx'] + 1}", f"prompt_{result['promptIdx'] + 1}"))
        if found != wanted:
            differing.append([PROMPTS[result["promptIdx"]], result["vars"], wanted, found])
    agree(differing, len(asked), at_least=30 * len(PROMPTS))


class Application(http.server.BaseHTTPRequestHandler):
    """Answers with the question, and remembers what it was sent."""

    received: list[list[Any]] = []

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.received.append([self.command, self.path, self.headers.get("x-team"), body])
        reply = json.dumps({"answers": [{"text": f"You said: {body['question']}"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        pass


def test_applications_are_sent_what_promptfoo_sends(folder: Folder, draw: random.Random) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    provider = {
        "id": f"http://127.0.0.1:{server.server_port}/ask?v=2",
        "label": "the shop",
        "config": {
            "method": "POST",
            "headers": {"Content-Type": "application/json", "x-team": "a b"},
            "body": {"question": "{{prompt}}", "inner": {"language": "in {{language}}"}, "list": ["{{language}}", 7, True]},
            "transformResponse": "json.answers[0].text",
        },
    }
    # A text that is JSON is sent as what it says there, and as a text here, which the report says.
    tests = [
        {"vars": {"o": " ".join(draw.choices(WORDS, k=3)) + draw.choice(["", "\n", " \"?\""]), "language": draw.choice(WORDS)}, "assert": [{"type": "contains", "value": draw.choice(WORDS)}]}
        for _ in range(40)
    ]
    config = {"prompts": ["{{o | safe}}"], "providers": [provider], "tests": tests}
    results = evaluated(folder, config)
    theirs, Application.received = Application.received, []
    folder.imported("promptfooconfig.json")
    folder.run()
    server.shutdown()

    def in_order(requests: list[list[Any]]) -> list[str]:
        return sorted(json.dumps(it, ensure_ascii=False, sort_keys=True) for it in requests)

    differing = [[wanted, found] for wanted, found in zip(in_order(theirs), in_order(Application.received), strict=True) if wanted != found]
    judged = {it["record"]: it["case_verdict"] for it in folder.exported("jsonl", "--columns", "record,case_verdict")}
    differing += [[it["response"]["output"], it["success"]] for it in results if (judged[f"r{it['testIdx'] + 1}"] == "passed") != it["success"]]
    agree(differing, len(Application.received), at_least=40)
