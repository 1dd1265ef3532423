"""The sections of a suite that are objects, as classes."""

# Made from the JSON Schema of suites by python/tests/spec_source.py: do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jurat._part import Part

__all__ = [
    "Agent",
    "AgentCase",
    "AgentLimits",
    "Ask",
    "Bound",
    "Model",
    "TaskThresholds",
    "Thresholds",
]


@dataclass(frozen=True, kw_only=True)
class Bound(Part):
    """What a number must be, where a number alone means at least.

    Args:
        at_least: The smallest value that is accepted.
        at_most: The largest value that is accepted.
    """

    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, kw_only=True)
class Model(Part):
    """A model and its settings, for `models`.

    Args:
        model: `provider/model`.
        base_url: The address of the endpoint; default: the provider's usual address.
        api_key_env: The environment variable that holds the API key; default: the provider's usual variable.
        api_key_command: A command that prints the API key, for keys that change.
        headers: Further headers of each request.
        request: What an application (`http/NAME`) is sent; `${prompt}`, `${messages}`, `${row.path}`, `${session}` and others are filled
            in.
        response: Where in the reply of an application (`http/NAME`) things are, as field paths; default: the whole reply is the answer.
        temperature: The sampling temperature.
        top_p: Nucleus sampling: the share of probability that is sampled from.
        max_tokens: Maximum number of output tokens of a reply.
        seed: The seed of sampling.
        reasoning: How much the model thinks before it answers: an effort, or `{ effort }` or `{ budget }`; default: as the provider does.
        logprobs: Requests the log probability of each token of a reply, with this number of alternatives, 0 to 20.
        extra: Further members of each request, by the provider's names.
        price: What tokens cost, for budgets and reports; default: that of the file of `prices`, else the built-in price.
        structured: How the endpoint is sent the schema of a reply; default: as the provider documents it.
        timeout: How long a request may take, such as `15m`, or a number of seconds; default: "--request-timeout".
        rpm: Rate limit: requests per minute.
        tpm: Rate limit: tokens per minute.
        shared: Whether its responses are looked for in the shared journal and sent there: `true` where this address and this name are the
            same model for the whole team; default: `true`, and `false` for an address on this machine.
    """

    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    api_key_command: str | None = None
    headers: Mapping[str, str] | None = None
    request: Mapping[str, Any] | None = None
    response: Mapping[str, Any] | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | Mapping[str, Any] | None = None
    logprobs: int | None = None
    extra: Mapping[str, Any] | None = None
    price: Mapping[str, Any] | None = None
    structured: Literal["json_schema", "json_object", "prompt", "tool"] | None = None
    timeout: str | float | None = None
    rpm: int | None = None
    tpm: int | None = None
    shared: bool | None = None


@dataclass(frozen=True, kw_only=True)
class TaskThresholds(Part):
    """What a task must reach, for `tasks` of `Thresholds`.

    Args:
        pass_rate: The minimum pass rate of the task.
        mean: The mean.
        median: The value that half of them do not exceed.
        min: The smallest.
        max: The largest.
        p1: The value that 1 % of them do not exceed.
        p5: The value that 5 % of them do not exceed.
        p10: The value that 10 % of them do not exceed.
        p25: The value that 25 % of them do not exceed.
        p75: The value that 75 % of them do not exceed.
        p90: The value that 90 % of them do not exceed.
        p95: The value that 95 % of them do not exceed.
        p99: The value that 99 % of them do not exceed.
    """

    pass_rate: float | None = None
    mean: float | Bound | Mapping[str, Any] | None = None
    median: float | Bound | Mapping[str, Any] | None = None
    min: float | Bound | Mapping[str, Any] | None = None
    max: float | Bound | Mapping[str, Any] | None = None
    p1: float | Bound | Mapping[str, Any] | None = None
    p5: float | Bound | Mapping[str, Any] | None = None
    p10: float | Bound | Mapping[str, Any] | None = None
    p25: float | Bound | Mapping[str, Any] | None = None
    p75: float | Bound | Mapping[str, Any] | None = None
    p90: float | Bound | Mapping[str, Any] | None = None
    p95: float | Bound | Mapping[str, Any] | None = None
    p99: float | Bound | Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Thresholds(Part):
    """What a run must reach to pass.

    Args:
        pass_rate: The minimum share of counted task results, over all cases, that passed.
        cases: The minimum share of judged cases that passed.
        tasks: By task: the minimum pass rate, or bounds for its pass rate and for statistics of its score.
        weights: By task: the weight of its results in `pass_rate`; default: `1` for each task.
        cost_usd: The maximum cost: of all answers, or of a case on average.
        latency: The maximum time that the subject takes for a case, by statistic, such as `p95: 3s`.
        max_errors: The maximum number of cases with an error, or their share; default: 0.
    """

    pass_rate: float | None = None
    cases: float | None = None
    tasks: Mapping[str, float | TaskThresholds | Mapping[str, Any]] | None = None
    weights: Mapping[str, float] | None = None
    cost_usd: float | Mapping[str, Any] | None = None
    latency: Mapping[str, Any] | None = None
    max_errors: int | str | None = None


@dataclass(frozen=True, kw_only=True)
class AgentLimits(Part):
    """What a run of an agent may use.

    Args:
        time: Time for all turns together; default: "10m".
        turns: Maximum steps of the agent's own loop, for agents that have such a setting.
        requests: Maximum requests to its model.
        tokens: Maximum tokens of its model, input and output.
        cost_usd: Maximum cost in dollars; its model must have a `price`.
        output: Maximum size of what it prints; default: "64MiB".
        processes: Maximum number of processes at a time; default: 512.
        memory: Maximum memory of all its processes together; default: "4GiB".
        workspace: Maximum size of its workspace; default: "2GiB".
    """

    time: str | float | None = None
    turns: int | None = None
    requests: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    output: str | int | None = None
    processes: int | None = None
    memory: str | int | None = None
    workspace: str | int | None = None


@dataclass(frozen=True, kw_only=True)
class Agent(Part):
    """A program that is given tasks, for `agents`.

    Args:
        description: A description for readers of the suite; stored and not used.
        runner: Which kind of agent it is; default: `command` or `call`, whichever key is given.
        command: A program and its arguments, for the runner `command`.
        call: A function of the program that runs the suite, by its name, for the runner `call`.
        program: The agent's program; default: its usual name, looked up on `PATH`.
        args: Further arguments, after those of the runner.
        env: Environment variables.
        pass_env: Names of variables of jurat's own environment that are passed on; their values are never stored.
        model: Its model: a role under `models`, or `provider/model`; default: the role `subject`, where the runner needs a model.
        output: What a `command` prints: events as JSON lines, or its final message as text; default: "events".
        tools: Servers under `tools` of the suite whose tools it may use; for `llm_probe` also `exec_shell`, `read_file` and `write_file`.
        tool_filter: Tools of these servers that it may not use.
        skills: Directories with a `SKILL.md` each, relative to this file; the program finds copies of them where it looks for skills.
        network: Network access: its model alone (`loopback`), nothing (`off`), some host names (`allow`), everything (`host`); default:
            `loopback` with a model, else `off`.
        read_only: Directories that it may read, beyond those of the system and of its own program.
        sandbox: The sandbox that it runs in; default: "namespaces".
        limits: Limits of a run.
        config: For `openclaw`: parts of the configuration that is written for its program.
    """

    description: str | None = None
    runner: Literal["command", "call", "recorded", "llm_probe", "openclaw", "claude_code", "codex", "gemini_cli", "qwen_code", "opencode", "copilot_cli", "goose", "openhands", "aider", "pi", "mini_swe_agent"] | None = None
    command: Sequence[str] | None = None
    call: str | None = None
    program: str | None = None
    args: Sequence[str] | None = None
    env: Mapping[str, str] | None = None
    pass_env: Sequence[str] | None = None
    model: str | None = None
    output: Literal["events", "text"] | None = None
    tools: Sequence[str] | None = None
    tool_filter: Mapping[str, Any] | None = None
    skills: Sequence[str] | None = None
    network: Literal["off", "loopback", "host"] | Mapping[str, Any] | None = None
    read_only: Sequence[str] | None = None
    sandbox: Literal["namespaces"] | Mapping[str, Any] | None = None
    limits: AgentLimits | Mapping[str, Any] | None = None
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class AgentCase(Part):
    """A task for an agent, for `cases`.

    Args:
        id: Its id, when cases are a list.
        description: What it is for; shown in reports.
        agent: An entry of `agents`, or an agent; default: the only entry of `agents`.
        task: The task: the first message to the agent.
        turns: Several messages, one after the other in one session; in place of `task`.
        system: A system prompt, added to that of the agent's program; part of the first message for `openclaw`, `openhands`, `aider` and
            `mini_swe_agent`.
        attachments: Text files that are added to the first message.
        workspace: A directory; each run starts with a fresh copy of it as its workspace; default: an empty workspace.
        key_outputs: The files that it should write, relative to its workspace; they are stored as output artifacts.
        artifact: The file of a run artifact, for the runner `recorded`.
        network: Network access in this case, in place of the agent's.
        limits: Limits in this case, in place of the agent's.
        expectations: What is expected of its runs, for `evaluation`.
        rubric: What scores of its runs mean, for `evaluation`.
        tags: Tags to select it by.
        metadata: Any further values; stored with it and not used.
        tasks: Tasks that apply to this case alone.
        deterministic_checks: Checks that apply to this case alone.
    """

    id: str
    description: str | None = None
    agent: str | Agent | Mapping[str, Any] | None = None
    task: str | Mapping[str, Any] | None = None
    turns: Sequence[str | Mapping[str, Any]] | None = None
    system: str | Mapping[str, Any] | None = None
    attachments: Sequence[str] | None = None
    workspace: str | None = None
    key_outputs: Sequence[str] | None = None
    artifact: str | None = None
    network: Literal["off", "loopback", "host"] | Mapping[str, Any] | None = None
    limits: AgentLimits | Mapping[str, Any] | None = None
    expectations: Mapping[str, Any] | None = None
    rubric: Mapping[str, Any] | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = None
    tasks: Sequence[Mapping[str, Any]] | None = None
    deterministic_checks: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class Ask(Part):
    """What a model is asked about each row.

    Args:
        prompt: The prompt; `${path}` is replaced by a value of the row. Not together with `prompts` or `messages`.
        messages: The messages of a conversation, in place of `prompt`: few-shot examples, earlier turns, images.
        prompts: Several prompts, by name or as a list; each makes a variant.
        whole_row: Sends the row itself, as JSON, in place of a prompt: for a subject that is a program or a function. Its answer is
            `output`: JSON as a value, else text; default: false.
        model: The subject: a role under `models`, `provider/model`, or a list of these; each makes a variant; default: the role `subject`.
        system: The system prompt; `${path}` is replaced by a value of the row.
        output: What the answer must be: fields in short form, or a JSON Schema; default: any text.
        tools: Names under `tools` of the servers whose tools the model may use.
        tool_filter: Tools that the model may not use.
        max_retries: Retries per answer when a request fails; default: 3.
        transform: What is done to the answer before it is judged; the answer itself stays under `original_output`.
    """

    prompt: str | Mapping[str, Any] | None = None
    messages: Sequence[Mapping[str, Any]] | None = None
    prompts: Mapping[str, str | Mapping[str, Any]] | Sequence[str | Mapping[str, Any]] | None = None
    whole_row: bool | None = None
    model: str | Sequence[str] | None = None
    system: str | Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None
    tools: Sequence[str] | None = None
    tool_filter: Mapping[str, Any] | None = None
    max_retries: int | None = None
    transform: Mapping[str, Any] | None = None
