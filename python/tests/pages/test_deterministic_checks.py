"""What the page "Deterministic Checks" of personal_agent_eval promises, a test for each sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat import checks
from jurat.errors import SuiteError

EXAMPLES = Path(__file__).parents[3] / "examples" / "agents-peer" / "configs"


def artifact(runner: str = "llm_probe", final: str | None = "Hello!", tools: int = 0, outputs: Any = (), status: str = "success") -> dict[str, Any]:
    trace: list[dict[str, Any]] = [
        {"event_type": "tool_call", "sequence": n, "call_id": str(n), "tool_name": "read", "raw_arguments": "{}"} for n in range(tools)
    ]
    if final is not None:
        trace.append({"event_type": "final_output", "content": final, "sequence": tools})
    identity = {"schema_version": 1, "run_id": "r1", "case_id": "c", "suite_id": "s", "run_profile_id": "p", "runner_type": runner}
    request = {"requested_model": "openai/gpt-5-mini"}
    error = None if status == "success" else {"code": "stopped", "message": "it was stopped"}
    return {"identity": identity, "status": status, "request": request, "trace": trace, "output_artifacts": list(outputs), "error": error}


def workspace_file(directory: Path, name: str, text: str) -> dict[str, Any]:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {"artifact_id": "output", "artifact_type": "openclaw_key_output", "uri": f"file://{path}", "metadata": {"relative_path": name}}


def checked(declarative: dict[str, Any], run: dict[str, Any] | None = None, base_dir: Any = ".") -> bool | None:
    (result,) = checks.run(run or artifact(), [{"check_id": "it", "declarative": declarative}], base_dir=base_dir)
    return result.passed


@pytest.mark.parametrize(("final", "passed"), [("Hello!", True), ("", False), ("  \n", False), (None, False)])
def test_final_response_present_passes_if_the_run_produced_a_non_empty_final_response(final: str | None, passed: bool) -> None:
    assert checked({"kind": "final_response_present"}, artifact(final=final)) is passed


def test_for_openclaw_a_readable_key_workspace_output_is_a_final_response(tmp_path: Path) -> None:
    outputs = [workspace_file(tmp_path, "report.md", "done")]
    assert checked({"kind": "final_response_present"}, artifact("openclaw", None, outputs=outputs)) is True
    assert checked({"kind": "final_response_present"}, artifact("openclaw", None)) is False


@pytest.mark.parametrize(("n", "passed"), [(2, False), (3, True), (4, False)])
def test_tool_call_count_passes_if_exactly_the_expected_number_was_recorded(n: int, passed: bool) -> None:
    assert checked({"kind": "tool_call_count", "expected": 3}, artifact(tools=n)) is passed


def test_file_exists_passes_for_a_regular_file_and_path_exists_for_a_directory_too(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("x")
    (tmp_path / "dir").mkdir()
    for path, is_file, is_there in (("out.txt", True, True), ("dir", False, True), ("absent", False, False)):
        assert checked({"kind": "file_exists", "path": path}, base_dir=tmp_path) is is_file
        assert checked({"kind": "path_exists", "path": str(tmp_path / path)}, base_dir=tmp_path) is is_there


def test_file_contains_passes_if_a_file_contains_a_required_substring(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("the expected-marker-string is here")
    for text, passed in (("expected-marker-string", True), ("Expected-Marker-String", False)):
        assert checked({"kind": "file_contains", "path": "out.txt", "text": text}, base_dir=tmp_path) is passed


@pytest.mark.parametrize("status", ["success", "failed", "timed_out", "invalid", "provider_error"])
def test_status_is_passes_if_the_terminal_status_matches(status: str) -> None:
    assert checked({"kind": "status_is", "expected": status}, artifact(status=status)) is True
    with pytest.raises(SuiteError):
        checked({"kind": "status_is", "expected": "fine"})


def test_output_artifact_present_passes_if_a_reference_has_the_given_type(tmp_path: Path) -> None:
    run = artifact("openclaw", outputs=[workspace_file(tmp_path, "a.md", "x")])
    assert checked({"kind": "output_artifact_present", "artifact_type": "openclaw_key_output"}, run) is True
    assert checked({"kind": "output_artifact_present", "artifact_type": "other"}, run) is False


@pytest.mark.parametrize(
    ("content", "passed"),
    [
        ({}, True),
        ({"contains": "Feedback de Sebastián"}, True),
        ({"contains": "sebastian"}, False),
        ({"contains_all": ["sebastian", "FEEDBACK"]}, True),
        ({"contains_any": ["nothing", "ignor"]}, True),
        ({"contains_all": ["sebastian", "nothing"]}, False),
    ],
)
def test_openclaw_workspace_file_present_looks_for_a_path_and_its_content(tmp_path: Path, content: dict[str, Any], passed: bool) -> None:
    run = artifact("openclaw", outputs=[workspace_file(tmp_path, "notes/report.md", "Feedback de Sebastián: ignorar")])
    kind = {"kind": "openclaw_workspace_file_present", "relative_path": "report.md"}
    assert checked({**kind, **content}, run) is passed


def test_contains_is_not_mixed_with_contains_all_or_contains_any() -> None:
    kind = {"kind": "openclaw_workspace_file_present", "relative_path": "report.md", "contains": "a", "contains_all": ["b"]}
    with pytest.raises(SuiteError):
        checked(kind, artifact("openclaw"))


HOOK = """
def check_output(artifact, context):
    return {"passed": artifact.status == "success", "message": f"{context.check_id} saw {artifact.status}"}
"""


def test_a_hook_is_named_by_a_relative_path_and_disabled_by_default(tmp_path: Path) -> None:
    (tmp_path / "my_check.py").write_text(HOOK)
    check = {"check_id": "custom", "hook": {"path": "my_check.py", "callable_name": "check_output"}}
    (off,) = checks.run(artifact(), [check], base_dir=tmp_path)
    assert off.passed is None and "disabled" in off.message
    (on,) = checks.run(artifact(status="failed"), [check], base_dir=tmp_path, policy={"allow_local_python_hooks": True})
    assert (on.passed, on.message) == (False, "custom saw failed")


def test_import_path_and_path_are_mutually_exclusive(tmp_path: Path) -> None:
    with pytest.raises(SuiteError):
        checks.run(artifact(), [{"check_id": "c", "hook": {"path": "a.py", "import_path": "a", "callable_name": "f"}}], base_dir=tmp_path)


@pytest.mark.parametrize(
    ("hook", "passed", "message"),
    [
        (lambda run: run["status"] == "success", True, ""),
        (lambda run, context: {"passed": False, "message": f"{context['check_id']} failed"}, False, "custom failed"),
        (lambda run: 1 / 0, None, "ZeroDivisionError: division by zero"),
        (lambda run: "fine", None, "the hook returned `str`; it must return a bool, or a dict with `passed`"),
    ],
    ids=["bool", "dict", "raises", "neither"],
)
def test_a_hook_may_be_a_function_of_the_program(hook: Any, passed: bool | None, message: str) -> None:
    checks_of_it = [{"check_id": "ended", "declarative": {"kind": "status_is", "expected": "success"}}, {"check_id": "custom", "hook": hook}]
    ended, custom = checks.run(artifact(), checks_of_it, base_dir=".")
    assert ended.passed is True
    assert (custom.passed, custom.message) == (passed, message)


def test_checks_run_against_the_stored_run_artifact(tmp_path: Path) -> None:
    path = tmp_path / "run_1.json"
    path.write_text(json.dumps(artifact()))
    for stored in (path, str(path)):
        (result,) = checks.run(stored, [{"check_id": "it", "declarative": {"kind": "final_response_present"}}], base_dir=tmp_path)
        assert result.passed is True
    path.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        checks.run(path, [], base_dir=tmp_path)
    with pytest.raises(OSError):
        checks.run(tmp_path / "absent.json", [], base_dir=tmp_path)


def test_each_check_declares_one_or_more_dimensions() -> None:
    check = {"check_id": "it", "dimensions": ["task", "process", "efficiency"], "declarative": {"kind": "final_response_present"}}
    (result,) = checks.run(artifact(), [check], base_dir=".")
    assert result.dimensions == ("task", "process", "efficiency")


def test_profiles_of_a_campaign_are_given_by_name_from_python() -> None:
    suite = jurat.Suite.load(EXAMPLES / "suites" / "geography.yaml", run_profile="twice", evaluation_profile="strict")
    assert suite.name == "geography"
    with pytest.raises(jurat.JuratError, match="no_such_profile"):
        jurat.Suite.load(EXAMPLES / "suites" / "geography.yaml", evaluation_profile="no_such_profile")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A copy of the campaign in the examples, with a hook among the checks of a case."""
    configs = tmp_path / "configs"
    shutil.copytree(EXAMPLES, configs)
    case = configs / "cases" / "capital"
    (case / "my_check.py").write_text("def check_output(artifact):\n    return artifact.status == 'success'\n")
    hook = "  - { check_id: custom, dimensions: [task], hook: { path: my_check.py, callable_name: check_output } }\n"
    text = (case / "test.yaml").read_text()
    (case / "test.yaml").write_text(text.replace("deterministic_checks:\n", f"deterministic_checks:\n{hook}"))
    profile = configs / "evaluation_profiles" / "strict.yaml"
    allowed = profile.read_text().replace("strict", "trusting") + "security_policy: { allow_local_python_hooks: true }\n"
    (configs / "evaluation_profiles" / "trusting.yaml").write_text(allowed)
    return configs / "suites" / "geography.yaml"


@pytest.mark.parametrize(("profile", "verdict"), [("strict", "error"), ("trusting", "passed")])
def test_hooks_are_enabled_by_the_security_policy_of_the_evaluation_profile(campaign: Path, profile: str, verdict: str) -> None:
    run = jurat.Suite.load(campaign, evaluation_profile=profile).run(filter="id == 'capital'")
    assert {it["custom"].verdict for it in run} == {verdict}


def test_the_final_dimension_scores_come_from_the_judge(campaign: Path) -> None:
    run = jurat.Suite.load(campaign, evaluation_profile="trusting").run(filter="id == 'capital'")
    case = next(iter(run))
    scores = {it.id: it.score for it in case["evaluation"].outputs}
    assert scores and all(name.startswith("evaluation.") and score is not None for name, score in scores.items())
    assert case["evaluation.task"].score == scores["evaluation.task"]


def test_a_hook_is_named_by_the_import_path_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").write_text("")
    (tmp_path / "my_package" / "my_checks.py").write_text(HOOK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    check = {"check_id": "custom", "hook": {"import_path": "my_package.my_checks", "callable_name": "check_output"}}
    (result,) = checks.run(artifact(), [check], base_dir=tmp_path, policy={"allow_local_python_hooks": True})
    assert (result.passed, result.message) == (True, "custom saw success")


def test_a_dimension_that_is_not_known_is_refused() -> None:
    with pytest.raises(SuiteError, match="proces"):
        checks.run(
            artifact(), [{"check_id": "it", "dimensions": ["proces"], "declarative": {"kind": "final_response_present"}}], base_dir="."
        )


def test_checks_are_declared_in_the_test_yaml_of_a_case(campaign: Path) -> None:
    run = jurat.Suite.load(campaign, evaluation_profile="trusting").run(filter="id == 'capital'")
    declared = {it.id for it in next(iter(run)).tasks if it.kind == "check"}
    assert "custom" in declared and len(declared) > 1
