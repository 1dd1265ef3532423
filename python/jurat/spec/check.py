"""Kinds of checks of an agent's run. `docs/reference/checks.md` says exactly what passes."""

# Made from the JSON Schema of suites by python/tests/spec_source.py: do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from jurat.spec.comparison import Comparison
from jurat._part import members

__all__ = [
    "cost_usd",
    "duration_seconds",
    "exit_status",
    "file_contains",
    "file_exists",
    "file_matches",
    "final_response",
    "final_response_present",
    "hook",
    "openclaw_workspace_file_present",
    "output_artifact_present",
    "path_exists",
    "status_is",
    "tokens",
    "tool_call_count",
    "tool_called",
    "tool_not_called",
    "tool_order",
    "tool_result",
    "turns",
    "workspace_file_present",
    "workspace_unchanged",
]


def final_response_present() -> dict[str, Any]:
    """Passes if the run has a final response."""
    return members("final_response_present")


def tool_call_count(*, expected: int | None = None, response_path: str | None = None) -> dict[str, Any]:
    """Passes if exactly this number of tool calls was made.

    Args:
        expected: The number of calls.
        response_path: The path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run.
    """
    return members("tool_call_count", expected=expected, response_path=response_path)


def file_exists(*, path: str | None = None, workspace: str | None = None) -> dict[str, Any]:
    """Passes if the path is a file.

    Args:
        path: A path on the host, relative to this file.
        workspace: A path in the workspace of the run.
    """
    return members("file_exists", path=path, workspace=workspace)


def file_contains(text: str, *, path: str | None = None, workspace: str | None = None) -> dict[str, Any]:
    """Passes if the file exists and contains the text.

    Args:
        text: The text, compared exactly.
        path: A path on the host, relative to this file.
        workspace: A path in the workspace of the run.
    """
    return members("file_contains", text=text, path=path, workspace=workspace)


def path_exists(*, path: str | None = None, workspace: str | None = None) -> dict[str, Any]:
    """Passes if the path is a file or a directory.

    Args:
        path: A path on the host, relative to this file.
        workspace: A path in the workspace of the run.
    """
    return members("path_exists", path=path, workspace=workspace)


def status_is(
    *,
    expected: Literal["success", "failed", "timed_out", "invalid", "provider_error", "refused"] | None = None,
) -> dict[str, Any]:
    """Passes if the run ended with this status.

    Args:
        expected: The status.
    """
    return members("status_is", expected=expected)


def output_artifact_present(
    *,
    artifact_type: str | None = None,
    artifact_id: str | None = None,
    uri: str | None = None,
) -> dict[str, Any]:
    """Passes if the run lists a matching output artifact.

    Args:
        artifact_type: Its type.
        artifact_id: Its id.
        uri: Its URI.
    """
    return members("output_artifact_present", artifact_type=artifact_type, artifact_id=artifact_id, uri=uri)


def openclaw_workspace_file_present(
    relative_path: str,
    *,
    contains: str | None = None,
    contains_all: Sequence[str] | None = None,
    contains_any: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Passes if an output artifact of an OpenClaw run is this file.

    Args:
        relative_path: The end of its path in the workspace, by whole path components.
        contains: A text that it contains, compared exactly.
        contains_all: Texts that it contains, all of them, ignoring case and accents.
        contains_any: Texts of which it contains at least one, ignoring case and accents.
    """
    return members("openclaw_workspace_file_present", relative_path=relative_path, contains=contains, contains_all=contains_all, contains_any=contains_any)


def workspace_file_present(
    relative_path: str,
    *,
    contains: str | None = None,
    contains_all: Sequence[str] | None = None,
    contains_any: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Passes if an output artifact of the run is this file.

    Args:
        relative_path: The end of its path in the workspace, by whole path components.
        contains: A text that it contains, compared exactly.
        contains_all: Texts that it contains, all of them, ignoring case and accents.
        contains_any: Texts of which it contains at least one, ignoring case and accents.
    """
    return members("workspace_file_present", relative_path=relative_path, contains=contains, contains_all=contains_all, contains_any=contains_any)


def final_response(
    *,
    field_path: str | None = None,
    item_field_path: str | None = None,
    comparison: Comparison | None = None,
    missing: Literal["error", "fail"] | None = None,
) -> dict[str, Any]:
    """Passes if the final response passes a comparison.

    Args:
        field_path: Where the value is; in a task with `judge`, a path into the reply; default: the whole value.
        item_field_path: A path inside each item, when the value is a list.
        comparison: What the value must be.
        missing: The result when the path finds nothing; default: "error".
    """
    return members("final_response", field_path=field_path, item_field_path=item_field_path, comparison=comparison, missing=missing)


def tool_called(
    *,
    tool: str | Sequence[str] | None = None,
    tool_kind: Literal["shell", "read", "write", "search", "web", "plan", "agent", "skill", "mcp", "other"] | Sequence[Literal["shell", "read", "write", "search", "web", "plan", "agent", "skill", "mcp", "other"]] | None = None,
    arguments: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    status: Literal["success", "error"] | None = None,
    output: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    min: int | None = None,
    max: int | None = None,
    response_path: str | None = None,
) -> dict[str, Any]:
    """Passes if the number of matching calls is within the bounds.

    Args:
        tool: The tool, or several of which any matches; default: every tool.
        tool_kind: What the tool does, whatever its agent calls it; or several of which any matches; default: every kind.
        arguments: What the arguments must be: a list of comparisons, or path → value that it equals.
        status: How the call must have ended.
        output: What the call must have returned: a comparison, or several.
        min: The minimum number of matching calls; default: 1.
        max: The maximum number of matching calls; default: no maximum.
        response_path: The path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run.
    """
    return members("tool_called", tool=tool, tool_kind=tool_kind, arguments=arguments, status=status, output=output, min=min, max=max, response_path=response_path)


def tool_not_called(
    *,
    tool: str | Sequence[str] | None = None,
    tool_kind: Literal["shell", "read", "write", "search", "web", "plan", "agent", "skill", "mcp", "other"] | Sequence[Literal["shell", "read", "write", "search", "web", "plan", "agent", "skill", "mcp", "other"]] | None = None,
    arguments: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    status: Literal["success", "error"] | None = None,
    output: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    response_path: str | None = None,
) -> dict[str, Any]:
    """Passes if no matching call was made.

    Args:
        tool: The tool, or several of which any matches; default: every tool.
        tool_kind: What the tool does, whatever its agent calls it; or several of which any matches; default: every kind.
        arguments: What the arguments must be: a list of comparisons, or path → value that it equals.
        status: How the call must have ended.
        output: What the call must have returned: a comparison, or several.
        response_path: The path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run.
    """
    return members("tool_not_called", tool=tool, tool_kind=tool_kind, arguments=arguments, status=status, output=output, response_path=response_path)


def tool_order(
    tools: Sequence[str | Mapping[str, Any]],
    *,
    exact: bool | None = None,
    response_path: str | None = None,
) -> dict[str, Any]:
    """Passes if matching calls were made in this order.

    Args:
        tools: The calls: names of tools, or objects.
        exact: Whether no other calls may be between them; default: false.
        response_path: The path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run.
    """
    return members("tool_order", tools=tools, exact=exact, response_path=response_path)


def tool_result(
    *,
    tool: str | Sequence[str] | None = None,
    tool_kind: Literal["shell", "read", "write", "search", "web", "plan", "agent", "skill", "mcp", "other"] | Sequence[Literal["shell", "read", "write", "search", "web", "plan", "agent", "skill", "mcp", "other"]] | None = None,
    arguments: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    status: Literal["success", "error"] | None = None,
    output: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    which: Literal["every", "any", "first", "last"] | None = None,
    response_path: str | None = None,
) -> dict[str, Any]:
    """Passes if the results of matching calls are as `status` and `output` require.

    Args:
        tool: The tool, or several of which any matches; default: every tool.
        tool_kind: What the tool does, whatever its agent calls it; or several of which any matches; default: every kind.
        arguments: What the arguments must be: a list of comparisons, or path → value that it equals.
        status: How the call must have ended.
        output: What the call must have returned: a comparison, or several.
        which: Which of the results must be so; default: "every".
        response_path: The path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run.
    """
    return members("tool_result", tool=tool, tool_kind=tool_kind, arguments=arguments, status=status, output=output, which=which, response_path=response_path)


def file_matches(
    *,
    path: str | None = None,
    workspace: str | None = None,
    field_path: str | None = None,
    item_field_path: str | None = None,
    comparison: Comparison | None = None,
    missing: Literal["error", "fail"] | None = None,
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Passes if the file exists and its text passes a comparison, or fits a JSON Schema.

    Args:
        path: A path on the host, relative to this file.
        workspace: A path in the workspace of the run.
        field_path: Where the value is; in a task with `judge`, a path into the reply; default: the whole value.
        item_field_path: A path inside each item, when the value is a list.
        comparison: What the value must be.
        missing: The result when the path finds nothing; default: "error".
        schema: What the file must hold as JSON: fields in short form, or a JSON Schema.
    """
    return members("file_matches", path=path, workspace=workspace, field_path=field_path, item_field_path=item_field_path, comparison=comparison, missing=missing, schema=schema)


def workspace_unchanged(*, except_: Sequence[str] | None = None) -> dict[str, Any]:
    """Passes if the run added, changed and removed nothing in its workspace.

    Args:
        except_: Patterns of paths that may differ: `*`, `**`, `?`, `[…]`.
    """
    return members("workspace_unchanged", except_=except_)


def cost_usd(*, min: float | None = None, max: float | None = None) -> dict[str, Any]:
    """Passes if the cost of the run, in dollars, is within the bounds.

    Args:
        min: The minimum.
        max: The maximum.
    """
    return members("cost_usd", min=min, max=max)


def tokens(
    *,
    of: Literal["input", "output", "total", "reasoning", "cached_input", "cache_write"] | None = None,
    min: float | None = None,
    max: float | None = None,
) -> dict[str, Any]:
    """Passes if the number of tokens is within the bounds.

    Args:
        of: Which tokens; default: "total".
        min: The minimum.
        max: The maximum.
    """
    return members("tokens", of=of, min=min, max=max)


def turns(*, min: float | None = None, max: float | None = None) -> dict[str, Any]:
    """Passes if the number of messages of the agent is within the bounds.

    Args:
        min: The minimum.
        max: The maximum.
    """
    return members("turns", min=min, max=max)


def duration_seconds(*, min: float | None = None, max: float | None = None) -> dict[str, Any]:
    """Passes if the duration of the run, in seconds, is within the bounds.

    Args:
        min: The minimum.
        max: The maximum.
    """
    return members("duration_seconds", min=min, max=max)


def exit_status(expected: int) -> dict[str, Any]:
    """Passes if the agent's program ended with this exit status.

    Args:
        expected: The exit status.
    """
    return members("exit_status", expected=expected)


def hook(callable_name: str, *, path: str | None = None, import_path: str | None = None) -> dict[str, Any]:
    """Passes if the author's Python function says so.

    Args:
        callable_name: The function that decides.
        path: A Python file, relative to this one.
        import_path: A Python module to import.
    """
    return members("hook", callable_name=callable_name, path=path, import_path=import_path)
