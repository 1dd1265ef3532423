//! What each agent really printed, and what is read from it.
//!
//! `tests/agents/RUNNER/CASE/` holds a stream that the real program left, against an endpoint that asked for two calls of tools or refused (what it said in
//! `openhands/events_with_summary` was put in by hand, and the prompts of Aider were taken out of its log), and
//! `report.txt`, what is read from it. `JURAT_BLESS=1` writes the latter anew; look at its diff.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jurat_core::agent::{
    Agent, AgentCase, AgentRun, Ending, EndpointFault, Exchanges, FaultSource, Limit, ModelAt, Places, Printed,
    RUNNERS, ReportedFault, Runner, ServerAt, StoredRun, TurnInput, TurnReport, TurnRun, Wire,
};
use jurat_core::artifact::{Event, Happening, RunArtifact, Tokens};
use jurat_core::effect::FaultClass;
use jurat_format::value::{Map, Val, parse_json};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).filter(|it| it.is_dir()).collect();
    paths.sort();
    paths
}

fn named(name: &str) -> &'static Runner {
    Runner::named(name).unwrap_or_else(|| panic!("no runner `{name}`"))
}

fn runner(folder: &Path) -> &'static Runner {
    let name = folder.file_name().and_then(|it| it.to_str()).expect("a name");
    named(name)
}

/// What a program left of a turn.
struct Recorded {
    stdout: String,
    side: String,
    log: String,
}

impl Recorded {
    fn printed(&self) -> Printed<'_> {
        Printed { stdout: &self.stdout, side: &self.side, log: &self.log, is_text: false }
    }
}

/// The output, the side file and the log of a recording.
fn recorded(case: &Path) -> Recorded {
    let text = |name: &str| fs::read_to_string(case.join(name)).unwrap_or_default();
    let stdout = ["stream.jsonl", "stdout.json", "stdout.txt"].iter().map(|it| text(it)).find(|it| !it.is_empty());
    let side = ["transcript.jsonl", "trajectory.json", "usage.json", "chat.md"]
        .iter()
        .map(|it| text(it))
        .find(|it| !it.is_empty());
    Recorded { stdout: stdout.unwrap_or_default(), side: side.unwrap_or_default(), log: text("log.txt") }
}

fn shown(report: &TurnReport) -> String {
    let mut text = String::new();
    for Event { timestamp, what, .. } in &report.events {
        let at = if timestamp.is_some() { "@ " } else { "" };
        let line = match what {
            Happening::Message { role, content, .. } => format!("{role}: {content}"),
            Happening::ToolCall { call_id, tool_name, parsed_arguments, .. } => {
                let arguments = parsed_arguments.clone().unwrap_or(Val::Null);
                format!("call {} {tool_name} {arguments}", call_id.as_deref().unwrap_or("-"))
            }
            Happening::ToolResult { call_id, is_error, output } => {
                format!("result {} {is_error:?} {output}", call_id.as_deref().unwrap_or("-"))
            }
            Happening::Runner { name, detail } => format!("runner {name} {detail}"),
            Happening::FinalOutput { content } => format!("final {content:?}"),
        };
        writeln!(text, "{at}{line}").expect("memory");
    }
    let TurnReport { usage, response, fault, session, model, version, .. } = report;
    writeln!(text, "\nusage {:?}\ncost {:?}", usage.normalized, usage.cost_usd).expect("memory");
    writeln!(text, "response {response:?}\nfault {fault:?}").expect("memory");
    writeln!(text, "session {}\nmodel {model:?}\nversion {version:?}", session.is_some()).expect("memory");
    text
}

#[test]
fn what_real_programs_print_is_read() {
    let mut stale = Vec::new();
    let mut n_runners = 0;
    for of_runner in entries(&folder()) {
        n_runners += 1;
        for case in entries(&of_runner) {
            let recorded = recorded(&case);
            let is_empty = recorded.stdout.is_empty() && recorded.side.is_empty();
            assert!(!is_empty, "{} has no recording", case.display());
            let report = shown(&runner(&of_runner).read(recorded.printed()));
            let file = case.join("report.txt");
            if std::env::var_os("JURAT_BLESS").is_some() {
                fs::write(&file, &report).expect("the file can be written");
            }
            if fs::read_to_string(&file).unwrap_or_default() != report {
                stale.push(format!("{}:\n{report}", file.display()));
            }
        }
    }
    assert_eq!(stale, Vec::<String>::new());
    assert_eq!(n_runners, 13, "every program has recordings, and so has the protocol of commands");
}

/// Lines that are no events take no event each.
#[test]
fn what_is_printed_beside_events_is_folded_and_bounded() {
    let printed = |text: &str| Runner::COMMAND.read(Printed { stdout: text, ..Printed::default() });
    let report = printed("one\ntwo\n{\"type\": \"note\", \"name\": \"x\"}\nthree\n");
    assert_eq!(
        shown(&report).lines().take(3).collect::<Vec<_>>(),
        ["runner printed \"one\\ntwo\"", "runner x null", "runner printed \"three\""]
    );
    let report = printed(&"y\n".repeat(1 << 20));
    assert_eq!(report.events.len(), 2);
    assert!(
        shown(&report).contains("runner left_out \"917504 more lines that are no events; the log has them\""),
        "{}",
        report.events.len()
    );
    let report = printed(&"{\"type\": \"note\"}\n".repeat(60_000));
    assert_eq!((report.events.len(), report.fault.map(|it| it.code)), (50_000, Some("stream_broken_off".to_owned())));
    let report = printed(&("{\"type\": \"note\"}\n".repeat(60_000) + "{\"type\": \"final\", \"text\": \"done\"}"));
    assert_eq!(report.fault.map(|it| it.code), Some("too_many_events".to_owned()));
}

/// Every program was driven through two calls of tools and a last word, and its tokens are known.
#[test]
fn every_program_reports_calls_results_tokens_and_a_final_message() {
    for of_runner in entries(&folder()) {
        let recorded = recorded(&of_runner.join("done"));
        let report = runner(&of_runner).read(recorded.printed());
        let name = of_runner.display().to_string();
        let n = |is: fn(&Happening) -> bool| report.events.iter().filter(|it| is(&it.what)).count();
        assert!(n(|it| matches!(it, Happening::ToolCall { .. })) >= 2, "{name}");
        // Aider does not say whether a command failed.
        let n_known = if name.ends_with("aider") { 1 } else { 2 };
        assert!(n(|it| matches!(it, Happening::ToolResult { is_error: Some(false), .. })) >= n_known, "{name}");
        assert!(report.response.is_some_and(|it| it.contains("report.md")), "{name}");
        assert_eq!(report.fault, None, "{name}");
        let tokens = report.usage.normalized;
        assert_eq!(tokens.input.zip(tokens.output).map(|(a, b)| a + b), tokens.total, "{name}");
        let expected = match runner(&of_runner).name {
            // It asks once, and leaves out what was cached.
            "aider" => (Some(20), None),
            "openhands" => (None, None),
            _ => (Some(60), Some(120)),
        };
        assert_eq!((tokens.output, tokens.cached_input), expected, "{name}");
    }
}

proptest! {
    #![proptest_config(super::laws())]

    /// A stream that breaks off anywhere is a fault, or loses nothing but what comes after its end; and no reader panics.
    #[test]
    fn a_stream_that_breaks_off_is_no_success(cut in 0.0f64..1.0) {
        for of_runner in entries(&folder()) {
            let recorded = recorded(&of_runner.join("done"));
            let upto = |text: &str| {
                // The id of its session is the end of OpenHands.
                let text = text.split("\nHint: run openhands").next().unwrap_or_default().trim_end();
                let mut end = (text.len() as f64 * cut) as usize;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text[..end].to_owned()
            };
            let Recorded { stdout, side, log } = &recorded;
            let cut_off = Recorded { stdout: upto(stdout), side: upto(side), log: upto(log) };
            let report = runner(&of_runner).read(cut_off.printed());
            prop_assert!(report.fault.is_some(), "{} at {cut}", of_runner.display());
        }
    }

    /// Whatever a program prints, reading ends and says something.
    #[test]
    fn anything_can_be_read(lines in proptest::collection::vec("[ -~]{0,60}|\\{\"type\": ?\"[a-z_.]{0,16}\".{0,40}\\}", 0..8)) {
        let text = lines.join("\n");
        for runner in RUNNERS {
            let _ = runner.read(Printed { stdout: &text, side: &text, log: &text, is_text: false });
        }
    }
}

fn turn(message: &str, report: TurnReport, ending: Ending) -> TurnRun {
    TurnRun { message: message.to_owned(), report, ending, stderr: String::new(), took: Duration::from_millis(5) }
}

/// The artifact of a run of these turns.
#[track_caller]
fn artifact_of(runner: &'static Runner, turns: Vec<TurnRun>, exchanges: Option<Exchanges>) -> RunArtifact {
    let mut agent = Agent::new("mine", runner);
    agent.limits.time = Duration::from_secs(2);
    let case = AgentCase {
        id: "Case 1".to_owned(),
        description: None,
        agent: Arc::new(agent),
        system: None,
        turns: vec!["do it".to_owned()],
        attachments: Vec::new(),
        workspace: None,
        key_outputs: Vec::new(),
        artifact: None,
        tags: Vec::new(),
        metadata: Val::Map(Map::default()),
    };
    let mut run = AgentRun {
        case: &case,
        run_id: "r1".to_owned(),
        suite: "My suite",
        model: None,
        turns,
        exchanges,
        stored: StoredRun::default(),
        began_ms: 1_000,
        ended_ms: 1_500,
        place: "namespaces",
        enforced: Vec::new(),
        program: None,
        replicate: 0,
    };
    let artifact = run.artifact();
    assert_eq!(RunArtifact::read(&artifact.to_value()).as_ref(), Ok(&artifact), "what is made reads back");
    artifact
}

/// A run of one turn that ended so, and what its status and the code of its error are.
#[track_caller]
fn concluded(ending: Ending, report: TurnReport, exchanges: Option<Exchanges>, expected: &str) {
    let artifact = artifact_of(Runner::COMMAND, vec![turn("do it", report, ending)], exchanges);
    let error = artifact.error.as_ref().map_or(String::new(), |it| format!(" {}", it.code));
    assert_eq!(format!("{}{error}", artifact.status.name()), expected);
}

fn said(response: &str) -> TurnReport {
    TurnReport { response: Some(response.to_owned()), ..TurnReport::default() }
}

fn endpoint_fault(code: &str, class: FaultClass) -> EndpointFault {
    EndpointFault { code: code.to_owned(), message: "away".to_owned(), class }
}

fn faulty(source: FaultSource) -> TurnReport {
    let fault = ReportedFault { source, code: "code".to_owned(), message: "why".to_owned(), class: None };
    TurnReport { fault: Some(fault), ..TurnReport::default() }
}

#[test]
fn how_a_run_ended_is_its_status() {
    concluded(Ending::Exited(0), said("done"), None, "success");
    concluded(Ending::Exited(0), said(" \n"), None, "invalid empty_output");
    concluded(Ending::Exited(0), TurnReport::default(), None, "invalid empty_output");
    concluded(Ending::Exited(3), said("done"), None, "failed exit_status");
    concluded(Ending::Signalled(9), said("done"), None, "failed signal");
    concluded(Ending::Limited(Limit::Time), said("done"), None, "timed_out timeout");
    concluded(Ending::Limited(Limit::Memory), said("done"), None, "failed limit_memory");
    concluded(Ending::NotStarted("no".to_owned()), TurnReport::default(), None, "failed not_started");
    concluded(Ending::Exited(1), faulty(FaultSource::Provider), None, "provider_error code");
    concluded(Ending::Exited(1), faulty(FaultSource::Configuration), None, "invalid code");
    concluded(Ending::Exited(1), faulty(FaultSource::Agent), None, "failed code");
    concluded(Ending::Exited(1), faulty(FaultSource::Stream), None, "failed exit_status");
    concluded(Ending::Exited(0), faulty(FaultSource::Stream), None, "failed code");
    concluded(Ending::Exited(2), faulty(FaultSource::Time), None, "timed_out code");
}

/// What the proxy saw is the truth: a program may take a failure for an answer.
#[test]
fn what_an_endpoint_did_wrong_counts_when_it_was_the_end() {
    let failed = || {
        Some(Exchanges { failed: Some(endpoint_fault("status_500", FaultClass::ServerError)), ..Exchanges::default() })
    };
    let spent = || Some(Exchanges { spent: Some(Limit::Requests), ..Exchanges::default() });
    concluded(Ending::Exited(0), said("done"), failed(), "provider_error status_500");
    concluded(Ending::Limited(Limit::Time), said("done"), failed(), "provider_error status_500");
    let at_limit = failed().map(|it| Exchanges { spent: Some(Limit::Requests), ..it });
    concluded(Ending::Exited(0), said("done"), at_limit, "provider_error status_500");
    concluded(Ending::Exited(1), faulty(FaultSource::Agent), failed(), "provider_error status_500");
    concluded(Ending::Exited(0), said("done"), spent(), "success");
    concluded(Ending::Exited(1), faulty(FaultSource::Provider), spent(), "failed limit_requests");
}

/// A response may begin with the words that Claude Code has for a failure.
#[test]
fn a_response_that_reads_like_a_failure_is_judged_where_the_proxy_saw_a_response() {
    let requests = |n_requests, n_failures| Some(Exchanges { n_requests, n_failures, ..Exchanges::default() });
    concluded(Ending::Exited(1), faulty(FaultSource::ProviderWords), requests(2, 1), "success");
    concluded(Ending::Exited(1), faulty(FaultSource::ProviderWords), requests(1, 1), "provider_error code");
    concluded(Ending::Exited(1), faulty(FaultSource::ProviderWords), None, "provider_error code");
    let limited = requests(2, 0).map(|it| Exchanges { spent: Some(Limit::Requests), ..it });
    concluded(Ending::Exited(1), faulty(FaultSource::ProviderWords), limited, "failed limit_requests");
    let stream = r#"{"type": "result", "subtype": "success", "is_error": true, "result": "API Error: too many words"}"#;
    let claude_code = Runner::named("claude_code").expect("it is a runner");
    let report = claude_code.read(Printed { stdout: stream, ..Printed::default() });
    let artifact = artifact_of(claude_code, vec![turn("do it", report, Ending::Exited(1))], requests(1, 0)).to_value();
    let evidence = jurat_core::evidence::run::evidence(artifact).expect("an artifact");
    assert_eq!(evidence.get("final_response").and_then(Val::as_str), Some("API Error: too many words"));
}

/// An agent that gave up waiting for its model was not able to do its task; one that was stopped was too slow.
#[test]
fn a_request_without_a_response_counts_when_the_agent_gave_up_on_it() {
    let unanswered = || {
        let fault = endpoint_fault("no_response", FaultClass::Timeout);
        Some(Exchanges { unanswered: Some(fault), ..Exchanges::default() })
    };
    concluded(Ending::Exited(0), said("I could not reach the model."), unanswered(), "provider_error no_response");
    concluded(Ending::Exited(1), faulty(FaultSource::Agent), unanswered(), "provider_error no_response");
    concluded(Ending::Limited(Limit::Time), TurnReport::default(), unanswered(), "timed_out timeout");
    concluded(Ending::Limited(Limit::Memory), TurnReport::default(), unanswered(), "failed limit_memory");
}

#[test]
fn whether_to_try_again_depends_on_what_the_endpoint_failed_at() {
    let is_retryable = |class| {
        let failed = Some(Exchanges { failed: Some(endpoint_fault("it", class)), ..Exchanges::default() });
        let artifact = artifact_of(Runner::COMMAND, vec![turn("do it", said("done"), Ending::Exited(0))], failed);
        artifact.error.and_then(|it| it.retryable)
    };
    for class in [FaultClass::WrongKey, FaultClass::UnknownModel, FaultClass::ExhaustedQuota] {
        assert_eq!(is_retryable(class), Some(false), "{class:?}");
    }
    for class in [FaultClass::RateLimit, FaultClass::ServerError, FaultClass::Timeout, FaultClass::Unreachable] {
        assert_eq!(is_retryable(class), Some(true), "{class:?}");
    }
}

/// An agent that asks again and again after its limit has not been too slow.
#[test]
fn a_limit_that_an_agent_ignores_is_how_its_run_ended() {
    let spent = |limit| Some(Exchanges { spent: Some(limit), ..Exchanges::default() });
    concluded(Ending::Limited(Limit::Time), TurnReport::default(), spent(Limit::Requests), "failed limit_requests");
    concluded(Ending::Limited(Limit::Requests), TurnReport::default(), spent(Limit::Requests), "failed limit_requests");
    concluded(Ending::Limited(Limit::Memory), TurnReport::default(), spent(Limit::Requests), "failed limit_memory");
    // What it did after the shared budget was used up says nothing about it.
    concluded(Ending::Exited(0), said("done"), spent(Limit::Budget), "failed limit_budget");
}

/// However a program takes a refusal of its model, the run is one that was refused.
#[test]
fn a_refusal_is_one_status() {
    let refusal = |words: &str| Some(Exchanges { refusal: Some(words.to_owned()), ..Exchanges::default() });
    concluded(Ending::Exited(0), said("I cannot help with that."), refusal("No."), "refused refused");
    concluded(Ending::Exited(0), TurnReport::default(), refusal(""), "refused refused");
    concluded(Ending::Exited(1), faulty(FaultSource::Provider), refusal("No."), "refused refused");
    concluded(Ending::Limited(Limit::Time), TurnReport::default(), refusal("No."), "refused refused");
    concluded(Ending::Exited(1), faulty(FaultSource::Refusal), None, "refused refused");
    let words = |report: TurnReport, exchanges: Option<Exchanges>| {
        let artifact = artifact_of(Runner::COMMAND, vec![turn("do it", report, Ending::Exited(0))], exchanges);
        let last = artifact.trace.iter().rev().find_map(|it| match &it.what {
            Happening::FinalOutput { content } => content.clone(),
            _ => None,
        });
        (artifact.error.expect("a refusal is why").message, last.unwrap_or_default())
    };
    let message = "the model refused: I will not.".to_owned();
    assert_eq!(words(TurnReport::default(), refusal("I will not.")), (message.clone(), "I will not.".to_owned()));
    assert_eq!(words(said("Sorry."), refusal("I will not.")), (message, "Sorry.".to_owned()));
    assert_eq!(
        words(faulty(FaultSource::Refusal), refusal("")),
        ("the model refused: why".to_owned(), "why".to_owned())
    );
    assert_eq!(
        words(TurnReport::default(), refusal("")),
        ("the model refused, without words".to_owned(), String::new())
    );
}

fn counted(input: u64, output: u64) -> Tokens {
    Tokens { input: Some(input), output: Some(output), total: Some(input + output), ..Tokens::default() }
}

/// What a run with these turns took, and what the program reports where that is something else.
#[track_caller]
fn took(
    runner: &'static Runner,
    turns: &[Tokens],
    exchanges: Option<Exchanges>,
    expected: (Option<u64>, Option<f64>, &str),
) {
    let report = |tokens: &Tokens| {
        let mut report = said("done");
        report.usage.normalized = *tokens;
        turn("do it", report, Ending::Exited(0))
    };
    let artifact = artifact_of(runner, turns.iter().map(report).collect(), exchanges);
    let reported = artifact.runner_metadata.get("reported_usage").map(Val::to_json).unwrap_or_default();
    assert_eq!((artifact.usage.normalized.total, artifact.usage.cost_usd, reported.as_str()), expected);
}

/// The proxy sees every request; programs leave some out and count others twice.
#[test]
fn what_passed_the_proxy_is_what_a_run_took() {
    let passed = |input, output| {
        Some(Exchanges { n_requests: 4, tokens: counted(input, output), cost_usd: Some(0.5), ..Exchanges::default() })
    };
    took(
        named("opencode"),
        &[counted(330, 60)],
        passed(450, 80),
        (Some(530), Some(0.5), r#"{"input_tokens":330,"output_tokens":60}"#),
    );
    took(named("opencode"), &[counted(450, 80)], passed(450, 80), (Some(530), Some(0.5), ""));
    // A session that is resumed reports what all of its turns took.
    took(named("codex"), &[counted(210, 40), counted(420, 80)], passed(420, 80), (Some(500), Some(0.5), ""));
    took(named("codex"), &[counted(210, 40), counted(420, 80)], None, (Some(500), None, ""));
    took(named("codex"), &[counted(210, 40), Tokens::default()], None, (Some(250), None, ""));
    took(named("qwen_code"), &[counted(210, 40), counted(420, 80)], None, (Some(500), None, ""));
    took(named("claude_code"), &[counted(210, 40), counted(210, 40)], None, (Some(500), None, ""));
    // Where a reply did not say what it took, the program knows more.
    let uncounted = passed(100, 20).map(|it| Exchanges { n_uncounted: 1, ..it });
    took(named("opencode"), &[counted(330, 60)], uncounted, (Some(390), None, ""));
}

/// Words that a program itself says in the place of the user are not what the agent was asked to do.
#[test]
fn the_task_is_always_in_the_trace() {
    let of_user = |words: &str| TurnReport {
        events: vec![Event {
            timestamp: None,
            metadata: None,
            what: Happening::Message { role: "user".to_owned(), content: Val::from(words.to_owned()), name: None },
        }],
        ..said("done")
    };
    let users = |report: TurnReport| {
        let artifact = artifact_of(named("claude_code"), vec![turn("Do it.", report, Ending::Exited(0))], None);
        let of_user = artifact.trace.iter().filter_map(|it| match &it.what {
            Happening::Message { role, content, .. } if role == "user" => content.as_str().map(str::to_owned),
            _ => None,
        });
        of_user.collect::<Vec<_>>()
    };
    assert_eq!(
        users(of_user("[Your previous response had no visible output]")),
        ["Do it.", "[Your previous response had no visible output]"]
    );
    assert_eq!(
        users(of_user("Please solve this issue: Do it. Then submit.")),
        ["Please solve this issue: Do it. Then submit."]
    );
    assert_eq!(users(said("done")), ["Do it."]);
}

/// How each program is started, in the first and in a later turn: `tests/agents/RUNNER/launch.txt`.
#[test]
fn every_program_is_started_as_it_was_when_it_was_tried() {
    let places = Places { workspace: "/workspace".to_owned(), home: "/home/agent".to_owned(), tmp: "/tmp".to_owned() };
    let mut stale = Vec::new();
    for of_runner in entries(&folder()) {
        let runner = runner(&of_runner);
        let mut agent = Agent::new("it", runner);
        agent.args = vec!["--extra".to_owned()];
        agent.env = vec![("EXTRA".to_owned(), "1".to_owned())];
        agent.limits.turns = Some(9);
        let model = ModelAt {
            wire: runner.wire().unwrap_or(Wire::OpenAiChat),
            base_url: "http://127.0.0.1:8099".to_owned(),
            model: "some-model".to_owned(),
            key: "dummy".to_owned(),
            price: Some((1.0, 2.0)),
            max_tokens: Some(4096),
        };
        let servers = [ServerAt { name: "time".to_owned(), url: "http://127.0.0.1:8099/mcp/time".to_owned() }];
        let mut text = String::new();
        for (turn, message) in
            ["do it", "-and again"].into_iter().enumerate().take(if runner.takes_turns { 2 } else { 1 })
        {
            let input = TurnInput {
                agent: &agent,
                program: "program",
                places: &places,
                turn,
                n_turns: if runner.takes_turns { 2 } else { 1 },
                message,
                system: Some("Be brief."),
                session: "5e551011-0000-4000-8000-000000000000",
                servers: if runner.takes_servers { &servers } else { &[] },
            };
            let launch = runner.launch(&input, Some(&model)).expect("it starts a program");
            writeln!(text, "turn {turn}\n  {:?}", launch.argv).expect("memory");
            for (name, value) in &launch.env {
                writeln!(text, "  {name}={value}").expect("memory");
            }
            for file in &launch.files {
                writeln!(text, "  ~/{}\n{}", file.path, file.text.trim_end()).expect("memory");
            }
            if !launch.stdin.is_empty() {
                writeln!(text, "  stdin {}", launch.stdin.trim_end()).expect("memory");
            }
        }
        let file = of_runner.join("launch.txt");
        if std::env::var_os("JURAT_BLESS").is_some() {
            fs::write(&file, &text).expect("the file can be written");
        }
        if fs::read_to_string(&file).unwrap_or_default() != text {
            stale.push(format!("{}:\n{text}", file.display()));
        }
    }
    assert_eq!(stale, Vec::<String>::new());
}

#[test]
fn parts_of_a_configuration_stand_beside_what_is_ours() {
    let mut agent = Agent::new("clerk", named("openclaw"));
    let part = |text: &str| match parse_json(text).expect("it is JSON").value.into_owned() {
        Val::Map(members) => members,
        _ => panic!("{text} is no object"),
    };
    agent.config.defaults = part(r#"{"timezone": "UTC", "sandbox": "docker", "workspace": "/elsewhere"}"#);
    agent.config.agent = part(r#"{"prompt": "You are a clerk.", "id": "other"}"#);
    agent.config.params = part(r#"{"temperature": 0.1}"#);
    let places = Places { workspace: "/workspace".to_owned(), home: "/home/agent".to_owned(), tmp: "/tmp".to_owned() };
    let model = ModelAt {
        wire: Wire::OpenAiChat,
        base_url: "http://127.0.0.1:8099".to_owned(),
        model: "m".to_owned(),
        key: "dummy".to_owned(),
        price: None,
        max_tokens: None,
    };
    let input = TurnInput {
        agent: &agent,
        program: "openclaw",
        places: &places,
        turn: 0,
        n_turns: 1,
        message: "do it",
        system: None,
        session: "s",
        servers: &[],
    };
    let launch = named("openclaw").launch(&input, Some(&model)).expect("it starts a program");
    assert!(launch.argv.contains(&"You are a clerk.\n\ndo it".to_owned()), "{:?}", launch.argv);
    let file = launch.files.iter().find(|it| it.path == "openclaw.json").expect("it is configured");
    let config = parse_json(&file.text).expect("it is JSON").value;
    let agents = config.get("agents").expect("it has agents").to_json();
    assert_eq!(
        agents,
        r#"{"defaults":{"timezone":"UTC","sandbox":{"mode":"off"},"workspace":"/workspace","skipBootstrap":true,"model":{"primary":"jurat/m"},"models":{"jurat/m":{"alias":"subject","params":{"temperature":0.1}}}},"list":[{"id":"main","default":true,"model":"jurat/m"}]}"#
    );
}
