//! Servers with tools: what they say, how they fail, and how they end.

use std::path::Path;
use std::time::Duration;

use jurat_core::effect::{Media, Outcome};
use jurat_core::suite::{ServerSpec, load};
use jurat_core::tool::ServerTool;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Value, parse_json};
use jurat_model::{Toolbox, ToolboxError, ToolboxOptions};
use jurat_testkit::tools::{Manners, ToolEndpoint, program};

use crate::asking::{run, until};

/// Long enough for anything that does not hang.
const TIMEOUT: Duration = Duration::from_secs(60);

struct One<'t>(&'t str);

impl Files for One<'_> {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        if path == Path::new("suite.json") { Ok(self.0.as_bytes().to_vec()) } else { Err(ReadError::NotFound) }
    }
}

/// The servers of a definition, written as JSON.
pub(crate) fn specs(tools: &str) -> Vec<ServerSpec> {
    let loaded = load(Path::new("suite.json"), &One(&format!(r#"{{"tools": {tools}}}"#)));
    let wrong: Vec<&str> = loaded.problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(wrong, [] as [&str; 0], "{tools}");
    loaded.suite.tools
}

fn variable(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("tk-0123456789abcdef".to_owned()),
        "PATH" | "HOME" => std::env::var(name).ok(),
        "LANG" => Some("C.UTF-8".to_owned()),
        "OTHER_SECRET" => Some("not for servers".to_owned()),
        _ => None,
    }
}

pub(crate) fn options() -> ToolboxOptions {
    ToolboxOptions { now_ms: || 1_800_000_000_000, ..ToolboxOptions::default() }
}

fn toolbox(tools: &str) -> Toolbox {
    Toolbox::open(&specs(tools), &variable, options()).expect("nothing is missing")
}

/// A server `s` that is the program of the tests with these arguments, and further keys as JSON.
fn spec_of(arguments: &[&str], further: &str) -> String {
    let words: Vec<String> = [program().to_str().expect("a path of text")]
        .iter()
        .chain(arguments)
        .map(|it| Value::from((*it).to_owned()).to_json())
        .collect();
    format!(r#"{{"s": {{"command": [{}]{further}}}}}"#, words.join(", "))
}

fn value(json: &str) -> Value {
    parse_json(json).expect("it is JSON").value.into_owned()
}

/// An outcome on a line.
fn outcome_text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Returned(it) => {
            assert_eq!(it.at_ms, 1_800_000_000_000);
            format!("{}{}", if it.is_error { "error: " } else { "" }, it.value.to_json())
        }
        Outcome::Fault(it) => format!("{}: {}", it.kind.name(), it.message),
        other => panic!("neither result nor fault: {other:?}"),
    }
}

pub(crate) async fn call(toolbox: &Toolbox, tool: &str, arguments: &str) -> String {
    outcome_text(toolbox.call("s", tool, &value(arguments), TIMEOUT).await)
}

/// The tools of a server by name, or the fault.
async fn names(toolbox: &Toolbox) -> String {
    match toolbox.list("s", TIMEOUT).await {
        Outcome::Returned(it) => {
            let tools = ServerTool::listed("s", &it.value);
            tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(" ")
        }
        other => outcome_text(other),
    }
}

const ALL: &str = "echo add remember picture fail refuse invalid internal garble environment folder hang die hold grow";

/// What every way to talk to a server must give.
async fn says_what_its_tools_say(toolbox: &Toolbox) {
    assert_eq!(names(toolbox).await, ALL);
    for (tool, arguments, expected) in [
        ("echo", r#"{"message": "hällo\n"}"#, r#"{"text":"hällo\n"}"#),
        ("echo", "null", r#"{"text":""}"#),
        ("echo", "[1]", "error: {\"text\":\"the arguments of `echo` must be an object, not a list\"}"),
        ("add", r#"{"a": 2, "b": 3}"#, r#"{"text":"5","structured":{"of":2,"sum":5}}"#),
        ("picture", "{}", r#"{"text":"[image: image/png, 8 bytes]\na point"}"#),
        ("fail", "{}", r#"error: {"text":"it failed"}"#),
        ("invalid", "{}", r#"error: {"text":"`a` must be a number"}"#),
        ("internal", "{}", "tool: the server `s` failed in the call of `internal`: something broke (error -32603)"),
        ("refuse", "{}", "tool: the server `s` refused the call of `refuse`: not here (error -32601)"),
        ("garble", "{}", "tool: the server `s` answered the call of `garble` without a list of `content`"),
        ("ecko", "{}", "tool: the server `s` has no tool `ecko`; did you mean `echo`?"),
    ] {
        assert_eq!(call(toolbox, tool, arguments).await, expected, "{tool}({arguments})");
    }
    assert_eq!(
        outcome_text(toolbox.call("t", "echo", &value("{}"), TIMEOUT).await),
        "tool: there is no server `t` under `tools`"
    );
    let identity = toolbox.identity("s").await.expect("it is open");
    assert_eq!(identity.name_and_version, Some(("jurat-tools".to_owned(), "1.2.3".to_owned())));
    assert_eq!(identity.protocol, "2025-11-25");
}

#[test]
fn a_program_says_what_its_tools_say() {
    run(async {
        let toolbox = toolbox(&spec_of(&["--page", "5", "--greeting", "Welcome to my server!"], ""));
        assert_eq!(toolbox.identity("s").await, None, "nothing is started before it is asked");
        says_what_its_tools_say(&toolbox).await;
        toolbox.close().await;
    });
}

#[test]
fn a_server_behind_http_says_the_same_whole_and_streamed() {
    for is_streamed in [false, true] {
        let endpoint = ToolEndpoint::start(Manners { page: Some(5), ..Manners::default() }, is_streamed);
        run(async {
            let spec = format!(r#"{{"s": {{"url": "{}", "headers": {{"x-key": "key ${{TOKEN}}"}}}}}}"#, endpoint.url());
            let toolbox = toolbox(&spec);
            says_what_its_tools_say(&toolbox).await;
            toolbox.close().await;
        });
        let seen = endpoint.seen();
        let key = " key tk-0123456789abcdef";
        assert_eq!(seen[..2], [format!("POST initialize{key}"), format!("POST notifications/initialized{key}")]);
        assert_eq!(seen.last(), Some(&format!("DELETE -{key}")), "the session is ended");
        assert_eq!(seen.iter().filter(|it| it.starts_with("POST tools/list")).count(), 3, "{seen:?}");
    }
}

#[test]
fn a_server_behind_a_stream_of_events_says_the_same() {
    let endpoint = ToolEndpoint::start(Manners { page: Some(5), ..Manners::default() }, false);
    run(async {
        let spec = format!(
            r#"{{"s": {{"url": "{}", "transport": "sse", "headers": {{"x-key": "key ${{TOKEN}}"}}}}}}"#,
            endpoint.sse_url()
        );
        let toolbox = toolbox(&spec);
        says_what_its_tools_say(&toolbox).await;
        let died = call(&toolbox, "die", "{}").await;
        assert_eq!(died, "tool: the server `s` closed its stream before it answered `die`");
        assert_eq!(call(&toolbox, "echo", r#"{"message": "again"}"#).await, r#"{"text":"again"}"#);
        toolbox.close().await;
        // The other way of asking is not guessed.
        let spec = format!(r#"{{"s": {{"url": "{}", "transport": "sse"}}}}"#, endpoint.url());
        let said = call(&self::toolbox(&spec), "echo", "{}").await;
        assert_eq!(said, "tool: the server `s` cannot be reached: status 405");
    });
    let seen = endpoint.seen();
    let key = " key tk-0123456789abcdef";
    assert_eq!(seen[..2], [format!("GET -{key}"), format!("POST initialize{key}")]);
}

#[test]
fn calls_of_several_cases_share_a_server() {
    run(async {
        let toolbox = toolbox(&spec_of(&[], ""));
        let (first, second) = (toolbox.fresh(), toolbox.fresh());
        let said = tokio::join!(call(&first, "remember", "{}"), call(&second, "remember", "{}"));
        let mut said = [said.0, said.1];
        said.sort();
        assert_eq!(said, [r#"{"text":"1"}"#, r#"{"text":"2"}"#]);
        drop(first);
        second.close().await;
        assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"3"}"#);
        assert!(!toolbox.has_per_case());
    });
}

#[test]
fn a_server_per_case_knows_its_case_alone() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let log = folder.path().join("log");
        let text = || std::fs::read_to_string(&log).unwrap_or_default();
        let toolbox = toolbox(&spec_of(&["--log", log.to_str().expect("text")], r#", "per_case": true"#));
        assert!(toolbox.has_per_case());
        let (first, second) = (toolbox.fresh(), toolbox.fresh());
        assert_eq!(call(&first, "remember", "{}").await, r#"{"text":"1"}"#);
        assert_eq!(call(&first, "remember", "{}").await, r#"{"text":"2"}"#);
        assert_eq!(call(&second, "remember", "{}").await, r#"{"text":"1"}"#);
        first.close().await;
        assert_eq!(text().matches("end\n").count(), 1, "closing waits until the program has ended");
        drop(second);
        until(|| text().matches("end\n").count() == 2).await;
        let third = toolbox.fresh();
        assert!(call(&third, "die", "{}").await.starts_with("tool: the server `s` ended (exit status: 3)"));
        let again = call(&third, "remember", "{}").await;
        assert_eq!(again, "tool: the server `s` has ended, and what this case did to it is lost");
    });
}

#[test]
fn a_program_that_dies_says_its_last_words_and_is_started_again() {
    run(async {
        let toolbox = toolbox(&spec_of(&[], ""));
        assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"1"}"#);
        let died = "tool: the server `s` ended (exit status: 3) before it answered `die`; it wrote: this is the end";
        assert_eq!(call(&toolbox, "die", "{}").await, died);
        assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"1"}"#);
    });
}

#[test]
fn a_connection_that_ends_in_the_middle_is_a_fault_and_is_opened_again() {
    for (is_streamed, end) in [
        (false, "could not be asked for `die`: the connection ended: end of file before message length reached"),
        (true, "closed the connection before it answered `die`"),
    ] {
        let endpoint = ToolEndpoint::start(Manners::default(), is_streamed);
        run(async {
            let toolbox = toolbox(&format!(r#"{{"s": {{"url": "{}"}}}}"#, endpoint.url()));
            assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"1"}"#);
            assert_eq!(call(&toolbox, "die", "{}").await, format!("tool: the server `s` {end}"));
            assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"2"}"#);
            // A session that the server has forgotten is begun again, and what was not done is asked for again.
            endpoint.forget_session();
            assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"3"}"#);
            endpoint.refuse(503);
            let refused = call(&toolbox, "remember", "{}").await;
            assert_eq!(refused, "tool: the server `s` could not be asked for `remember`: status 503: `go away`");
        });
    }
}

#[test]
fn a_request_that_times_out_is_cancelled_at_the_server() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let log = folder.path().join("log");
        let toolbox = toolbox(&spec_of(&["--log", log.to_str().expect("text")], r#", "timeout": 2"#));
        assert_eq!(names(&toolbox).await, ALL);
        assert_eq!(call(&toolbox, "hang", "{}").await, "timeout: the server `s` did not answer `hang` within 2 s");
        until(|| std::fs::read_to_string(&log).is_ok_and(|it| it.contains("notifications/cancelled"))).await;
        let short = toolbox.call("s", "hang", &value("{}"), Duration::from_millis(10)).await;
        assert!(
            outcome_text(short).starts_with("timeout: the server `s` did not answer `hang` within 0.0"),
            "the shorter timeout wins"
        );
        assert_eq!(call(&toolbox, "echo", r#"{"message": "still here"}"#).await, r#"{"text":"still here"}"#);
    });
    let endpoint = ToolEndpoint::start(Manners::default(), true);
    run(async {
        let toolbox = toolbox(&format!(r#"{{"s": {{"url": "{}", "timeout": 2}}}}"#, endpoint.url()));
        assert_eq!(call(&toolbox, "hang", "{}").await, "timeout: the server `s` did not answer `hang` within 2 s");
        until(|| endpoint.seen().iter().any(|it| it.contains("notifications/cancelled"))).await;
        assert_eq!(call(&toolbox, "echo", r#"{"message": "still here"}"#).await, r#"{"text":"still here"}"#);
    });
}

/// What one case did to its own server would be gone without a word.
#[test]
fn a_session_of_one_case_is_not_begun_again() {
    let endpoint = ToolEndpoint::start(Manners::default(), false);
    run(async {
        let toolbox = toolbox(&format!(r#"{{"s": {{"url": "{}", "per_case": true}}}}"#, endpoint.url())).fresh();
        assert_eq!(call(&toolbox, "remember", "{}").await, r#"{"text":"1"}"#);
        endpoint.forget_session();
        let lost = call(&toolbox, "remember", "{}").await;
        assert_eq!(lost, "tool: the server `s` could not be asked for `remember`: the session is over");
    });
}

/// A server that works on one call at a time answers those behind a slow one late; only the slow one took too long.
#[test]
fn a_slow_call_fails_alone() {
    run(async {
        let toolbox = toolbox(&spec_of(&[], r#", "timeout": 2"#));
        assert_eq!(call(&toolbox, "echo", r#"{"message": "first"}"#).await, r#"{"text":"first"}"#);
        let slow = call(&toolbox, "hold", "{}");
        let echo = || call(&toolbox, "echo", r#"{"message": "here"}"#);
        let (slow, one, other) = tokio::join!(slow, echo(), echo());
        assert_eq!(slow, "timeout: the server `s` did not answer `hold` within 2 s");
        assert_eq!((one.as_str(), other.as_str()), (r#"{"text":"here"}"#, r#"{"text":"here"}"#));
        assert_eq!(echo().await, r#"{"text":"here"}"#);
    });
}

#[test]
fn tools_that_a_server_adds_can_be_called() {
    run(async {
        let toolbox = toolbox(&spec_of(&[], ""));
        assert_eq!(names(&toolbox).await, ALL);
        assert!(call(&toolbox, "late", "{}").await.starts_with("tool: the server `s` has no tool `late`"));
        assert_eq!(call(&toolbox, "grow", "{}").await, r#"{"text":"there is another tool"}"#);
        loop {
            let said = call(&toolbox, "late", "{}").await;
            if !said.contains("has no tool") {
                assert_eq!(said, r#"{"text":"better than never"}"#);
                break;
            }
            tokio::task::yield_now().await;
        }
    });
}

const RESOURCES: &str = r#", "resources": true"#;

#[test]
fn resources_are_listed_and_read_with_two_more_tools() {
    run(async {
        for arguments in [&["--resources"][..], &["--resources", "--bare"]] {
            let toolbox = toolbox(&spec_of(arguments, RESOURCES));
            let offered = names(&toolbox).await;
            assert!(offered.ends_with("list_resources read_resource"), "{offered}");
            let listed = call(&toolbox, "list_resources", "{}").await;
            let last = r#"{"uri":"note://archive","name":"note://archive","mimeType":"application/zip"}]}}"#;
            assert!(listed.starts_with(r#"{"text":"{\"resources\":[{\"uri\":\"note://today\","#), "{listed}");
            assert!(listed.ends_with(last), "{listed}");
            for (arguments, expected) in [
                (r#"{"uri": "note://today"}"#, r#"{"text":"rain"}"#),
                (
                    r#"{"uri": "note://drawing.png"}"#,
                    r#"{"text":"[resource: note://drawing.png, image/png, 8 bytes]"}"#,
                ),
                (r#"{"uri": "note://archive"}"#, r#"{"text":"[resource: note://archive, application/zip, 10 bytes]"}"#),
                (r#"{"uri": "note://gone"}"#, r#"error: {"text":"there is no such resource"}"#),
                ("{}", r#"error: {"text":"`read_resource` needs `uri`, the address of a resource, as text"}"#),
            ] {
                assert_eq!(call(&toolbox, "read_resource", arguments).await, expected, "{arguments}");
            }
            let drawing = toolbox.call("s", "read_resource", &value(r#"{"uri": "note://drawing.png"}"#), TIMEOUT).await;
            let Outcome::Returned(drawing) = drawing else { panic!("{drawing:?}") };
            let media: Vec<String> = drawing.media.iter().map(Media::summary).collect();
            assert_eq!(media, ["image/png, 8 bytes, drawing.png"]);
            toolbox.close().await;
        }
    });
}

#[test]
fn resources_that_cannot_be_offered_are_a_fault() {
    for (arguments, expected) in [
        (&[][..], "has no resources; leave out `resources: true`"),
        (
            &["--resources", "--reader"],
            "has a tool `read_resource` of its own, and `resources: true` adds another `read_resource`; leave out `resources`",
        ),
    ] {
        run(async {
            let toolbox = toolbox(&spec_of(arguments, RESOURCES));
            assert_eq!(names(&toolbox).await, format!("tool: the server `s` {expected}"));
            toolbox.close().await;
        });
    }
    run(async {
        let toolbox = toolbox(&spec_of(&["--resources"], ""));
        assert_eq!(names(&toolbox).await, ALL);
        toolbox.close().await;
    });
}

#[test]
fn servers_that_cannot_be_opened_say_why() {
    run(async {
        for (spec, expected) in [
            (
                spec_of(
                    &["--last-words", "cannot read tk-0123456789abcdef"],
                    r#", "env": {"KEY": {"from_env": "TOKEN"}}"#,
                ),
                "tool: the server `s` ended (exit status: 7) before it was ready; it wrote: cannot read [secret]",
            ),
            (spec_of(&["--bare"], ""), "tool: the server `s` has no tools"),
            (spec_of(&["--endless"], ""), "tool: the server `s` has more than 1000 pages of tools"),
            (
                r#"{"s": {"url": "http://127.0.0.1:9/mcp"}}"#.to_owned(),
                "tool: the server `s` cannot be reached: no connection to http://127.0.0.1:9: connection refused (os error 111)",
            ),
        ] {
            let toolbox = toolbox(&spec);
            // A caller without a time limit gets an answer, too.
            let said = outcome_text(toolbox.list("s", Duration::MAX).await);
            let here = std::env::current_dir().expect("there is a folder");
            assert_eq!(
                said.replace(&format!("{}/.", here.display()), "…").replace(&here.display().to_string(), "…"),
                expected
            );
        }
        let silent = toolbox(&spec_of(&["--silent", "--greeting", "hello"], ""));
        let said = outcome_text(silent.list("s", Duration::from_secs(3)).await);
        assert!(said.starts_with("timeout: the server `s` was not ready within "), "{said}");
        assert!(said.ends_with(" s; it wrote: hello"), "{said}");
        let endpoint = jurat_testkit::Endpoint::start(jurat_testkit::Script::new());
        let toolbox = toolbox(&format!(r#"{{"s": {{"url": "{}/mcp"}}}}"#, endpoint.url()));
        let said = outcome_text(toolbox.list("s", TIMEOUT).await);
        assert!(said.starts_with("tool: the server `s` cannot be reached: status 404"), "{said}");
    });
}

#[test]
fn programs_see_little_of_the_environment() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let spec = spec_of(
            &[],
            &format!(
                r#", "cwd": "{}", "env": {{"PLAIN": "as it is", "KEY": "a ${{TOKEN}} z", "HOME": "/nowhere"}}"#,
                folder.path().display()
            ),
        );
        let toolbox = toolbox(&spec);
        let Outcome::Returned(said) = toolbox.call("s", "environment", &value("{}"), TIMEOUT).await else {
            panic!("it answers")
        };
        let text = said.value.get("text").and_then(|it| it.as_str()).expect("a text");
        let mut lines: Vec<&str> = text.lines().filter(|it| !it.starts_with("PATH=")).collect();
        lines.sort_unstable();
        // What it says of a secret is hidden; that it got it follows from the rest.
        assert_eq!(lines, ["HOME=/nowhere", "KEY=a [secret] z", "LANG=C.UTF-8", "PLAIN=as it is"]);
        let here = std::fs::canonicalize(folder.path()).expect("the folder is there");
        assert_eq!(call(&toolbox, "folder", "{}").await, format!(r#"{{"text":"{}"}}"#, here.display()));
    });
}

#[test]
fn what_the_environment_lacks_is_said_before_anything_is_started() {
    for (spec, expected) in [
        (
            r#"{"s": {"command": ["sh"], "env": {"KEY": {"from_env": "NOT_SET"}}}}"#,
            "`KEY` of the server `s` needs `NOT_SET`: set it in the environment or in a file `.env`",
        ),
        (
            r#"{"s": {"url": "http://127.0.0.1:9/mcp", "headers": {"authorization": "Bearer ${NOT_SET}"}}}"#,
            "`authorization` of the server `s` needs `NOT_SET`: set it in the environment or in a file `.env`",
        ),
    ] {
        let error = Toolbox::open(&specs(spec), &variable, options()).expect_err("a variable is missing");
        assert!(matches!(error, ToolboxError::MissingVariable { .. }));
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_program_or_a_folder_that_is_not_there_is_named_before_anything_is_started() {
    for (spec, why) in [
        (r#"{"s": {"command": ["no-such-program"]}}"#, "there is no program `no-such-program` in PATH"),
        (r#"{"s": {"command": ["./no-such-program"]}}"#, "there is no program `./no-such-program`"),
        (r#"{"s": {"command": ["/etc/passwd/x"]}}"#, "there is no program `/etc/passwd/x`"),
        (
            r#"{"s": {"command": ["/etc/passwd"]}}"#,
            "`/etc/passwd` is not a program that may be started: Permission denied (os error 13)",
        ),
        (
            r#"{"s": {"command": ["sh"], "cwd": "no-such-folder"}}"#,
            "there is no folder `no-such-folder` to start it in",
        ),
        (r#"{"s": {"command": ["sh"], "env": {"PATH": "/nowhere"}}}"#, "there is no program `sh` in PATH"),
    ] {
        let error = Toolbox::open(&specs(spec), &variable, options()).expect_err("it is not there");
        assert_eq!(error.to_string(), format!("the server `s` cannot be started: {why}"));
    }
}

#[test]
fn programs_end_with_us_even_if_they_do_not_want_to() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let log = folder.path().join("log");
    let arguments = ["--lingers", "--log", log.to_str().expect("text")];
    let is_gone = || {
        let text = std::fs::read_to_string(&log).expect("there is a log");
        let id = text.lines().rev().find_map(|it| it.strip_prefix("start ")).expect("it was started");
        // A process that ended and was not waited for is a zombie.
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        status.is_empty() || status.contains(") Z ")
    };
    let spec = spec_of(&arguments, "");
    let open = |grace: Duration| {
        Toolbox::open(&specs(&spec), &variable, ToolboxOptions { grace, ..options() }).expect("nothing is missing")
    };
    // Closed in order: it gets its time, and is then killed.
    run(async {
        let toolbox = open(Duration::from_secs(3));
        assert_eq!(names(&toolbox).await, ALL);
        assert!(!is_gone());
        toolbox.close().await;
        assert!(std::fs::read_to_string(&log).is_ok_and(|it| it.ends_with("end\n")), "its input was closed first");
        until(is_gone).await;
    });
    // The runtime is gone before the toolbox is closed.
    let toolbox = run(async {
        let toolbox = open(Duration::from_secs(60));
        assert_eq!(names(&toolbox).await, ALL);
        assert!(!is_gone());
        toolbox
    });
    run(until(is_gone));
    drop(toolbox);
}

#[test]
fn nothing_of_a_secret_is_shown_by_accident() {
    let spec = r#"{"s": {"command": ["sh"], "env": {"KEY": "${TOKEN}"}}, "t": {"url": "http://127.0.0.1:9/", "headers": {"x-key": "${TOKEN}"}}}"#;
    let shown = format!("{:?}", toolbox(spec));
    assert!(!shown.contains("tk-0123456789abcdef"), "{shown}");
}
