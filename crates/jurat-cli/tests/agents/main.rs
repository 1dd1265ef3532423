//! Real agents, driven through a task: two calls of tools, a file written, a last word.
//!
//! `cargo xtask agents` installs them and says where they are: `JURAT_TEST_AGENTS` names them with their programs, `claude_code=/path/to/claude`, one a
//! line; `JURAT_TEST_NODE` is the folder of a Node that is new enough. Their models are a scripted endpoint on loopback, which they reach through jurat's
//! sandbox and its proxy as they would any other. Each is one row of what is printed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use jurat_core::agent::{Runner, Wire};
use jurat_testkit::{Endpoint, Reply, Request, Script, Usage};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The key that the endpoint wants, and that no agent may see.
const KEY: &str = "sk-the-real-key-of-the-endpoint";

/// What the agent says at its end.
const LAST_WORD: &str = "All done: report.md is written.";

/// What a skill says about itself, which agents show to their models.
const SKILL_WORDS: &str = "Greets people of the province of Bithynia.";
const SKILL: &str = "---\nname: greet\ndescription: Greets people of the province of Bithynia.\n---\n\nSay hail.\n";

/// The agents that show their models tools of servers in a form that the scripted model does not have: behind a search, or in a namespace.
const LISTS_ALONE: [&str; 3] = ["openclaw", "codex", "qwen_code"];

/// What a tool returns for the numbers that it is called with.
const SUM: &str = "40000003";

/// What the model says when it refuses.
const REFUSAL: &str = "I will not do that.";

#[test]
fn real_agents_are_driven_through_a_task() {
    let named = std::env::var("JURAT_TEST_AGENTS").unwrap_or_default();
    let agents: Vec<(&str, &str)> = named.lines().filter_map(|it| it.split_once('=')).collect();
    assert!(
        !agents.is_empty(),
        "`JURAT_TEST_AGENTS` names no agent: `cargo xtask agents` installs them and says where they are"
    );
    let (mut rows, mut wrong) = (String::new(), Vec::new());
    for (runner, program) in agents {
        match drive(runner, program) {
            Ok(row) => writeln!(rows, "{runner:<16} {row}").expect("memory"),
            Err(why) => {
                writeln!(rows, "{runner:<16} did not work").expect("memory");
                wrong.push(format!("{runner}: {why}"));
            }
        }
    }
    println!("agent            version      calls results tokens  turns  what worked\n{rows}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Runs a case with an agent in one turn, and one in two where the agent takes several; returns its row.
fn drive(runner: &str, program: &str) -> Result<String, String> {
    let desk = TempDir::new().map_err(|error| error.to_string())?;
    let endpoint = Endpoint::start(Script::answering(answer).key(KEY));
    let takes_turns = Runner::named(runner).is_some_and(|it| it.takes_turns);
    fs::create_dir_all(desk.path().join("template")).expect("directories can be made");
    fs::write(desk.path().join("template/input.txt"), "hello\n").expect("files can be written");
    fs::create_dir_all(desk.path().join("skills/greet")).expect("directories can be made");
    fs::write(desk.path().join("skills/greet/SKILL.md"), SKILL).expect("files can be written");
    fs::write(desk.path().join("suite.yaml"), suite(runner, program, &endpoint.url(), takes_turns))
        .expect("files can be written");
    let mut row = String::new();
    for (case, n_calls) in [("once", 2), ("twice", 4)].into_iter().take(if takes_turns { 2 } else { 1 }) {
        let run = artifact(desk.path(), case)?;
        let expected_calls = if runner == "mini_swe_agent" { n_calls + 1 } else { n_calls };
        let outcome =
            checked(&run, expected_calls, runner).map_err(|why| format!("case `{case}`: {why}\n{}", shown(&run)))?;
        if case == "once" {
            let version = run["runner_metadata"]["program"]["version"].as_str().unwrap_or("?");
            write!(row, "{version:<12} {outcome}").expect("memory");
        }
    }
    let run = artifact(desk.path(), "refused")?;
    refused(&run, runner).map_err(|why| format!("case `refused`: {why}\n{}", shown(&run)))?;
    let known = Runner::named(runner).ok_or("there is no such runner")?;
    let mut worked = "trace, usage, last word, diff, key output".to_owned();
    if known.takes_servers {
        let run = artifact(desk.path(), "served")?;
        served(&run, desk.path()).map_err(|why| format!("case `served`: {why}\n{}", shown(&run)))?;
        worked += ", MCP server";
        worked += if known.skills.is_some() { ", skill" } else { "" };
    }
    let stored = Command::new("grep").args(["-rl", KEY, "."]).current_dir(desk.path().join(".jurat")).output();
    let stored = String::from_utf8_lossy(&stored.map_err(|error| error.to_string())?.stdout).into_owned();
    if !stored.is_empty() {
        return Err(format!("the key stands in {stored}"));
    }
    let turns = if takes_turns { "2" } else { "1" };
    Ok(format!("{row} {turns:>6}  {worked}"))
}

fn suite(runner: &str, program: &str, url: &str, takes_turns: bool) -> String {
    let wire = Runner::named(runner).and_then(Runner::wire).unwrap_or(Wire::OpenAiChat);
    let provider = wire.provider();
    let base = match wire {
        Wire::Anthropic | Wire::Gemini => url.to_owned(),
        Wire::OpenAiChat | Wire::OpenAiResponses => format!("{url}/v1"),
    };
    let model = if runner == "mini_swe_agent" { "stub-submits" } else { "stub-model" };
    // In its other formats it runs no commands.
    let args = if runner == "aider" { ", args: [--edit-format, diff]" } else { "" };
    let mut text = format!(
        "suite: real\nmodels:\n  subject: {{ model: {provider}/{model}, base_url: '{base}', api_key_env: STUB_KEY, price: {{ input: 1, output: 2 }} }}\n\
         agents:\n  it: {{ runner: {runner}, program: '{program}'{args}, limits: {{ time: 5m, requests: 60 }} }}\n\
         cases:\n  - {{ id: once, task: Print the date and write report.md., workspace: template, key_outputs: [report.md] }}\n"
    );
    if takes_turns {
        text += "  - { id: twice, turns: [Print the date and write report.md., Do it again.], workspace: template, key_outputs: [report.md] }\n";
    }
    text += "  - { id: refused, task: Do REFUSE. }\n";
    if let Some(known) = Runner::named(runner).filter(|it| it.takes_servers) {
        let skills = if known.skills.is_some() { ", skills: [skills/greet]" } else { "" };
        // It would show the tools of servers to its model only after a search.
        let env = if runner == "claude_code" { ", env: { ENABLE_TOOL_SEARCH: 'false' }" } else { "" };
        text += &format!(
            "  - {{ id: served, task: Do CALL., agent: {{ runner: {runner}, program: '{program}', tools: [kit]{skills}{env}, limits: {{ time: 5m, requests: 60 }} }} }}\n\
             tools: {{ kit: {{ command: ['{}'] }} }}\n",
            jurat_testkit::tools::program().display()
        );
    }
    text + "tasks:\n  - { id: done, check: { kind: status_is, expected: success } }\n"
}

/// Runs one case and returns its artifact.
fn artifact(desk: &Path, case: &str) -> Result<Value, String> {
    let jurat = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurat"));
        command.args(arguments).current_dir(desk).env("STUB_KEY", KEY);
        let node = std::env::var("JURAT_TEST_NODE").unwrap_or_default();
        command.env("PATH", format!("{node}:{}", std::env::var("PATH").unwrap_or_default()));
        command.output().map_err(|error| error.to_string())
    };
    let ran = jurat(&["run", "suite.yaml", "--quiet", "--filter", &format!("id == '{case}'")])?;
    if ran.status.code().is_none_or(|it| it > 1) {
        return Err(format!(
            "the run ended badly:\n{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        ));
    }
    let explained = jurat(&["explain", case, "--format", "json"])?;
    let text = String::from_utf8_lossy(&explained.stdout).into_owned();
    let first = text.lines().next().and_then(|it| serde_json::from_str::<Value>(it).ok());
    let run = first.as_ref().and_then(|it| it.get("run")).cloned();
    run.ok_or_else(|| format!("the run says nothing:\n{text}{}", String::from_utf8_lossy(&explained.stderr)))
}

/// What must be true of a run, and a few numbers of it.
fn checked(run: &Value, n_calls: usize, runner: &str) -> Result<String, String> {
    let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    must(run["status"] == "success", "it did not succeed")?;
    let calls = run["tool_calls"].as_array().cloned().unwrap_or_default();
    must(calls.len() == n_calls, "it did not report all calls of tools")?;
    must(calls.iter().all(|it| it["arguments"].is_object()), "calls have no arguments")?;
    // Aider edits before it runs commands, and does not say whether those failed. Both stand in one reply.
    let is_aider = runner == "aider";
    let (first, second) = if is_aider { ("report.md", "date") } else { ("date", "report.md") };
    must(calls[0]["arguments"].to_string().contains(first), "the first call is another")?;
    must(calls[1]["arguments"].to_string().contains(second), "the second call is another")?;
    let results: Vec<&Value> = calls.iter().take(if is_aider { 1 } else { 2 }).map(|it| &it["status"]).collect();
    must(results.iter().all(|it| **it == "success"), "results are missing")?;
    let tokens = &run["usage"]["normalized"];
    let total = tokens["total_tokens"].as_u64().unwrap_or(0);
    must(total > 0 && tokens["input_tokens"].is_u64() && tokens["output_tokens"].is_u64(), "tokens are missing")?;
    let requests = run["runner_metadata"]["requests"].as_u64().unwrap_or(0);
    must(total == requests * 120, "tokens are not those of its requests")?;
    must(run["usage"]["cost_usd"].as_f64().is_some_and(|it| it > 0.0), "its cost is missing")?;
    let said = run["final_response"].as_str().unwrap_or_default();
    must(said.contains("report.md is written"), "its last word is another")?;
    let added: Vec<&str> =
        run["workspace"]["added"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    must(added == ["report.md"], "it left something else")?;
    must(run["workspace"]["files"]["report.md"]["text"] == "marker\n", "the file says something else")?;
    must(run["output_artifacts"][0]["sha256"].is_string(), "the key output was not stored")?;
    must(run["runner_metadata"]["place"] == "namespaces", "it ran somewhere else")?;
    must(
        run["runner_metadata"]["requests"].as_u64().is_some_and(|it| is_aider || it >= n_calls as u64),
        "requests were not counted",
    )?;
    Ok(format!("{:>5} {:>7} {total:>6}", calls.len(), results.len()))
}

/// What must be true of a run whose model refuses.
fn refused(run: &Value, runner: &str) -> Result<(), String> {
    let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    must(run["status"] == "refused", "it was not refused")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    // What Gemini's filters stop has no words.
    if runner != "gemini_cli" {
        must(text(&run["error"]["message"]) == format!("the model refused: {REFUSAL}"), "its words are others")?;
        must(!text(&run["final_response"]).is_empty(), "the refusal is not its final message")?;
    }
    let task = run["trace"].as_array().into_iter().flatten().find(|it| it["role"] == "user");
    must(
        task.is_some_and(|it| it["content"].to_string().contains("Do REFUSE.")),
        "the trace does not begin with the task",
    )
}

/// What must be true of a run whose model calls a tool of a server of the suite, and looks for a skill.
fn served(run: &Value, desk: &Path) -> Result<(), String> {
    let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    must(run["status"] == "success", "it did not succeed")?;
    let said = run["final_response"].as_str().unwrap_or_default();
    let runner = run["identity"]["runner_type"].as_str().unwrap_or_default();
    if LISTS_ALONE.contains(&runner) {
        let listed =
            Command::new("grep").args(["-rlF", "tools/list", "."]).current_dir(desk.join(".jurat/agents")).output();
        must(listed.is_ok_and(|it| !it.stdout.is_empty()), "the tools were not listed")?;
    } else {
        must(said.contains("the sum came back"), "the tool was not called")?;
    }
    let has_skills = Runner::named(runner).is_some_and(|it| it.skills.is_some());
    must(!has_skills || said.contains("the skill is known"), "the skill was not found")
}

/// A run as far as it helps to see what is wrong with it.
fn shown(run: &Value) -> String {
    let parts = ["status", "error", "final_response", "tool_calls", "usage"].map(|key| format!("{key}: {}", run[key]));
    let added = format!("added: {}\nrequests: {}", run["workspace"]["added"], run["runner_metadata"]["requests"]);
    format!("{}\n{added}", parts.join("\n"))
}

/// The model: it asks for the date, then for the file, then gives its final message; once for each turn input.
fn answer(request: &Request) -> Reply {
    let usage = Usage { input: 100, output: 20, cached: 40, reasoning: 0 };
    let is_aider = request.json.to_string().contains("SEARCH/REPLACE");
    if request.tools.is_empty() && !is_aider {
        return Reply::text("A title").usage(usage);
    }
    if request.json.to_string().contains("Do REFUSE.") {
        return Reply::refusal(REFUSAL).usage(usage);
    }
    if request.json.to_string().contains("Do CALL.") {
        return called(request).usage(usage);
    }
    if is_aider {
        return Reply::text(&edited(request)).usage(usage);
    }
    let command = match (results_since_reported(request), request.model.contains("submits")) {
        (0, _) => "date +%F",
        (1, _) => "printf 'marker\\n' > report.md",
        (_, true) => "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo 'All done: report.md is written.'",
        (_, false) => return Reply::text(LAST_WORD).usage(usage),
    };
    match shell(request, command) {
        Some((name, arguments)) => Reply::calls([(name, arguments)]).usage(usage),
        None => Reply::text("there is no tool to run commands with").usage(usage),
    }
}

/// A reply with a command and an edit, as Aider asks for them.
fn edited(request: &Request) -> String {
    let before = if request.json.to_string().contains("Do it again") { "marker\n" } else { "" };
    format!(
        "{LAST_WORD}\n\nreport.md\n```\n<<<<<<< SEARCH\n{before}=======\nmarker\n>>>>>>> REPLACE\n```\n\n```bash\ndate +%F\n```\n"
    )
}

/// The model of a case with a server: it calls the tool `add`, whatever the agent calls that, and says what it saw.
fn called(request: &Request) -> Reply {
    let seen = request.json.to_string();
    let skill = if seen.contains(SKILL_WORDS) { "the skill is known" } else { "there is no skill" };
    if seen.contains(SUM) {
        return Reply::text(&format!("the sum came back, and {skill}"));
    }
    match request.tools.iter().find(|it| it.name.ends_with("add")) {
        Some(tool) => {
            let mut arguments = json!({ "a": 20_000_001, "b": 20_000_002 });
            // OpenHands adds one to every tool, and refuses calls without it.
            if tool.parameters["properties"]["security_risk"].is_object() {
                arguments["security_risk"] = json!("LOW");
            }
            Reply::calls([(tool.name.as_str(), arguments)])
        }
        None => Reply::text(&format!("there is no tool to add with, and {skill}")),
    }
}

/// The tool that runs commands, by the names that agents have for it.
fn shell(request: &Request, command: &str) -> Option<(&'static str, Value)> {
    let described = json!({ "command": command, "description": "a step" });
    let known = [
        ("exec", json!({ "command": command })),
        ("Bash", described.clone()),
        ("bash", described.clone()),
        ("exec_command", json!({ "cmd": command })),
        ("shell", json!({ "command": shell_argument(request, command) })),
        ("shell_command", json!({ "command": command })),
        ("run_shell_command", described),
        ("terminal", json!({ "command": command, "security_risk": "LOW" })),
    ];
    known.into_iter().find(|(name, _)| request.tools.iter().any(|it| it.name == *name))
}

/// A command for a tool `shell`: as text where the tool takes text, else as a program with its arguments.
fn shell_argument(request: &Request, command: &str) -> Value {
    let tool = request.tools.iter().find(|it| it.name == "shell");
    match tool.is_some_and(|it| it.parameters["properties"]["command"]["type"] == "string") {
        true => json!(command),
        false => json!(["bash", "-c", command]),
    }
}

/// How many results of tools came since the last turn input.
fn results_since_reported(request: &Request) -> usize {
    let body = &request.json;
    let messages = ["messages", "input", "contents"].iter().find_map(|key| body.get(key)?.as_array());
    let mut n_results = 0;
    for message in messages.into_iter().flatten().rev() {
        let text = message.to_string();
        let n = ["\"tool_result\"", "\"function_call_output\"", "\"functionResponse\"", "\"tool_call_id\""]
            .iter()
            .map(|it| text.matches(it).count())
            .sum::<usize>();
        n_results += n;
        let is_reported = message["role"] == "user" && n == 0;
        // What an agent adds for itself is no turn input.
        if is_reported && (text.contains("report.md") || text.contains("Do it again")) {
            break;
        }
    }
    n_results
}
