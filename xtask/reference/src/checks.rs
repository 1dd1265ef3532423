//! `docs/reference/checks.md`: every kind of check, made from the table that reads them.

use jurat_core::check::{DIMENSIONS, KINDS};
use jurat_format::problem::listed_all;

use crate::keys::{self, Reference};

/// The page.
pub(crate) fn check_reference() -> String {
    let reference = Reference::of(&keys::pages());
    let mut page = INTRODUCTION.to_owned();
    page += "\n## Kinds\n\n| `kind` | meaning |\n|---|---|\n";
    for name in KINDS.iter().map(|it| it.name) {
        page += &format!("| [`{name}`](#{name}) | {} |\n", meaning(&reference, name));
    }
    for kind in KINDS {
        let name = kind.name;
        page += &format!("\n### `{name}`\n\n{}.\n", capital(meaning(&reference, name)));
        let table = reference.whole_table("checks.md", &format!("check {name}"), "kind");
        page += &if table.is_empty() { table } else { format!("\n{table}") };
        page += &if kind.note.is_empty() { String::new() } else { format!("\n{}\n", kind.note) };
    }
    page += &REST.replace("{dimensions}", &listed_all(DIMENSIONS));
    keys::filled("checks.md", &page, &reference)
}

/// What a kind passes on.
fn meaning<'r>(reference: &'r Reference, kind: &str) -> &'r str {
    reference.row(&format!("check {kind}"), "kind").map_or("", |it| it.meaning)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const INTRODUCTION: &str = "\
# Checks

<!-- Made from the program by `cargo xtask generate`; change `crates/jurat-core/src/check/` or `xtask/reference/src/checks.rs` instead. -->

A check decides something about a finished agent run, without asking a model: whether a file was written, which tools were called, what it cost. It passes, fails with
what was expected and what was found, or cannot be decided, which is an error and never a pass.

A check is a task of kind `check`. It can be a gate, depend on other tasks, and be compared: its output is `true` or `false`, so `operator: equals` with
`expected_value: false` beside it says the opposite.

```yaml
suite: weekly-report
records: { path: runs.jsonl, as: runs }
tasks:
  - { id: ended-well, check: { kind: status_is, expected: success }, required: true }
  - { id: report, check: { kind: workspace_file_present, relative_path: report.md, contains_all: [feedback] }, depends_on: [ended-well] }
  - { id: searched, check: { kind: tool_called, tool: search, arguments: { query: refund }, max: 3 } }
  - { id: kept-out, check: { kind: tool_called, tool: shell }, operator: equals, expected_value: false }
  - { id: cheap, check: { kind: cost_usd, max: 0.05 }, dimensions: [efficiency] }
```

`deterministic_checks` is the same as other programs write it; `check_id` is the id of the task.

```yaml
deterministic_checks:
  - check_id: report-md-created
    dimensions: [task]
    declarative: { kind: openclaw_workspace_file_present, relative_path: report.md }
```

## What is checked

`records` with `as: runs` says that each row is a run artifact: `identity`, `status`, `timing`, `request`, `provider`, `usage`, `trace`, `output_artifacts`, `error` and
`runner_metadata`. A row that is none is an error of every task, and says what is wrong with it. Rows are known by `identity.run_id` unless `id` says otherwise. A file
may hold one artifact (`.json`), a list of them, or one a line (`.jsonl`).

Tasks see the artifact and what is read from it:

| name | |
|---|---|
| `input` | what the run was asked: `runner_metadata.input` where that is text, else the first message of the user; absent when nothing says it |
| `context` | `runner_metadata.context`, such as the documents that the retrievers of an imported trace found |
| `final_response` | the last thing that the agent said; null when it said nothing |
| `tool_calls` | a list of `{call_id, name, kind, arguments, status, output}`, each call with its result |
| `workspace` | `{added, changed, removed, files}`, when the runner recorded it under `runner_metadata.workspace`. `files` has each file after the run by its path: `{size, sha256, text, is_cut}`, and `diff` where a text is another than before |

`kind` says what a tool does, in one vocabulary over all agents: `Bash` of Claude Code, `exec` of OpenClaw and `run_shell_command` of Gemini CLI are of the kind `shell`. It follows from the name
of the tool, and `tool_kind` in checks looks at it:

| kind | tools that |
|---|---|
| `shell` | run commands, or control those that run; such a command may read and write files, too |
| `read` | read files |
| `write` | write, change or move files |
| `search` | list files, or find them by name or content |
| `web` | search the web, or fetch pages |
| `plan` | note what is to be done |
| `agent` | give a part of the task to another agent |
| `skill` | load instructions for a kind of task |
| `mcp` | belong to an MCP server, where the agent's name of the tool shows it |
| `other` | do anything else |

Checks of tools and of the final response also look at rows that `ask` has made questions of. With `response_path`, checks of tools look at a response that was recorded
as it came: of OpenAI (chat completions, responses), Anthropic or Gemini, one response or a list of messages.

**Files.** `path` is on the host, relative to the file that holds the check; links are followed, `..` is taken away, and what is not there need not be. `workspace` is in the workspace of
the run and cannot lead out of it: it is looked up in what the run recorded, else among the output artifacts. A URI of an artifact is decoded and is relative to the directory of the
file that the run came from; one that leads out of that directory, by links too, is not looked at, and a check that depends on it is an error.

What was seen of a file (kind, size, BLAKE3 of what was read, text up to 512,000 bytes) is stored with the run, so `--replay` and `jurat explain` read no files.

**Text without case and accents.** `contains_all` and `contains_any` compare text after full case folding, NFKD, and without combining characters: `Sebastián` is `sebastian`, `Straße` is
`STRASSE`, while `ø` stays `ø`. `contains` and `text` compare letter by letter.
";

const REST: &str = "
## Comparisons, calls and hooks

What `output` of a call compares, and each entry of `arguments` that is an object with `operator`:

<!-- keys: comparison -->
<!-- end of keys -->

A call in `tools` of [`tool_order`](#tool_order):

<!-- keys: call -->
<!-- end of keys -->

The author's code, under `hook` of an entry of `deterministic_checks`:

<!-- keys: hook -->
<!-- end of keys -->

## `deterministic_checks`

<!-- keys: deterministic check -->
<!-- end of keys -->

## Dimensions

`dimensions` says what a check is about: {dimensions}, and what the suite declares under `dimensions`. A check that does not say is about `process` (the status, the final response being
there, tools, the workspace), `task` (files, output artifacts, the final response), `efficiency` (bounds; `tool_call_count` is about `process` and `efficiency`), or nothing
(`openclaw_workspace_file_present`, `workspace_file_present`, hooks). The score of a dimension is the share of its decided checks that passed, from 0 to 10; what could not be decided is left out.
";
