"""Calls one function of the author and writes what it returns as one line of JSON.

Standard input is one JSON object: `artifact`, `context`, `hook`. What the function prints goes to standard error, so
that nothing it says can be taken for the answer.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys

answer_to = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.stdout = sys.stderr


class Text(str):
    """A word of the artifact. Programs that know it as a member of an enumeration ask for its value."""

    @property
    def value(self):
        return str(self)


# What each block has, so that what was not recorded is None or empty rather than an error.
OPEN = {"metadata", "runner_metadata", "execution_parameters", "workspace"}
LISTS = {"trace", "output_artifacts", "tool_calls"}
BLOCKS = {
    "": "identity status timing request provider usage trace output_artifacts error runner_metadata final_response "
    "tool_calls workspace",
    "identity": "schema_version run_id case_id suite_id run_profile_id runner_type",
    "timing": "queued_at started_at completed_at duration_seconds",
    "request": "requested_model gateway execution_parameters metadata",
    "provider": "gateway provider_name provider_model_id request_id response_id finish_reason native_finish_reason "
    "metadata",
    "usage": "normalized cost_usd raw_provider_usage",
    "normalized": "input_tokens output_tokens total_tokens reasoning_tokens cached_input_tokens cache_write_tokens",
    "trace": "event_type sequence timestamp metadata role content name call_id tool_name raw_arguments "
    "parsed_arguments status output detail",
    "output_artifacts": "artifact_id artifact_type uri media_type byte_size sha256 metadata",
    "error": "code message error_type retryable provider_code metadata",
    "tool_calls": "call_id name arguments status output",
}
NESTED = {"identity", "timing", "request", "provider", "usage", "normalized"}
WORDS = {"status", "event_type", "role"}


class Block:
    """A part of the artifact, its members as attributes."""

    def __init__(self, name, members):
        self._name = name
        self._members = members

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        name, members = self._name, self._members
        if key not in members and key not in BLOCKS.get(name, "").split():
            raise AttributeError(f"a run artifact has no `{key}` there")
        value = members.get(key)
        if key in LISTS and name == "":
            return [Block(key, item) for item in value or []]
        if key in NESTED:
            return Block(key, value or {})
        if key == "error" and name == "":
            return None if value is None else Block(key, value)
        if value is None and key in OPEN:
            return {}
        return Text(value) if key in WORDS and isinstance(value, str) else value

    def model_dump(self, **_):
        return json.loads(json.dumps(self._members))

    def __repr__(self):
        return f"{self._name or 'artifact'}({self._members!r})"


class Context:
    """What a function is told besides the artifact."""

    def __init__(self, members):
        self.check_id = members["check_id"]
        self.description = members.get("description")
        self.case_source_path = members.get("case_source_path")


def module(hook):
    if "import_path" in hook:
        return importlib.import_module(hook["import_path"])
    path = os.path.abspath(hook["path"])
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file `{hook['path']}`")
    spec = importlib.util.spec_from_file_location("jurat_hook", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"`{hook['path']}` is not a Python file")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def arguments(function, artifact, context):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return [artifact]
    positional = [it for it in parameters if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    return [artifact, context][: len(positional)]


def read(returned):
    if isinstance(returned, bool):
        return {"passed": returned}
    if isinstance(returned, dict):
        known = {"passed", "message", "metadata", "outputs"}
        unknown = sorted(str(key) for key in returned if key not in known)
        if unknown:
            raise TypeError(f"the result has unknown keys: {', '.join(unknown)}; it may have {', '.join(sorted(known))}")
        members = dict(returned)
    elif hasattr(returned, "passed"):
        members = {key: getattr(returned, key, None) for key in ("passed", "message", "metadata", "outputs")}
    else:
        raise TypeError(f"the function returned {type(returned).__name__}; it must return a bool or a dict with `passed`")
    if not isinstance(members.get("passed"), bool):
        raise TypeError("`passed` in the result must be True or False")
    if not isinstance(members.get("message"), (str, type(None))):
        raise TypeError("`message` in the result must be text")
    for key in ("metadata", "outputs"):
        if not isinstance(members.get(key), (dict, type(None))):
            raise TypeError(f"`{key}` in the result must be a dict")
    return {key: value for key, value in members.items() if value is not None}


def called(asked):
    sys.path.insert(0, os.getcwd())
    hook = asked["hook"]
    function = getattr(module(hook), hook["callable_name"])
    if not callable(function):
        raise TypeError(f"`{hook['callable_name']}` is not a function")
    artifact, context = Block("", asked["artifact"]), Context(asked["context"])
    return json.dumps({"answer": read(function(*arguments(function, artifact, context)))}, allow_nan=False)


try:
    answer = called(json.load(sys.stdin))
except BaseException as error:  # whatever it is, it decides nothing
    answer = json.dumps({"fault": f"{type(error).__name__}: {error}"})
answer_to.write(answer + "\n")
answer_to.flush()
# Threads that the function left behind do not keep it waiting.
os._exit(0)
