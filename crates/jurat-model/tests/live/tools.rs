//! Servers with tools that others wrote: two from PyPI and one from npm over standard input and output, and the latter over streamable HTTP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::effect::Outcome;
use jurat_core::suite::{HttpTransport, Reach, ServerSpec};
use jurat_core::tool::ServerTool;
use jurat_format::value::{Span, Spanned, Val};
use jurat_model::{Toolbox, ToolboxOptions};

use crate::{address, value};

/// Long enough for Node and Python on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

fn programs() -> PathBuf {
    PathBuf::from(address("JURAT_TEST_MCP_PROGRAMS"))
}

fn started(command: &[&str]) -> Reach {
    let (program, arguments) = command.split_first().expect("a program");
    let program = programs().join(program).display().to_string();
    let command = std::iter::once(program).chain(arguments.iter().map(|it| (*it).to_owned())).collect();
    Reach::Program { command, env: Vec::new(), cwd: None }
}

fn time() -> Reach {
    started(&["bin/mcp-server-time", "--local-timezone", "UTC"])
}

fn everything() -> Reach {
    started(&["node_modules/.bin/mcp-server-everything", "stdio"])
}

fn everything_over_http() -> Reach {
    let transport = HttpTransport::Http;
    Reach::Http { url: format!("{}/mcp", address("JURAT_TEST_MCP")), transport, headers: Vec::new(), oauth: None }
}

/// Does something with a server `s`.
fn with<T>(reach: Reach, timeout: Duration, work: impl AsyncFnOnce(&Toolbox) -> T) -> T {
    asked(reach, timeout, false, work)
}

/// The same with a server whose resources may be offered as tools.
fn asked<T>(reach: Reach, timeout: Duration, resources: bool, work: impl AsyncFnOnce(&Toolbox) -> T) -> T {
    let name = Spanned::new("s".to_owned(), Span::default());
    let spec = ServerSpec { name, reach, folder: "".into(), timeout, reuse: false, per_case: false, resources };
    let env = |name: &str| std::env::var(name).ok();
    let toolbox = Toolbox::open(&[spec], &env, ToolboxOptions::default()).expect("nothing is missing");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let done = work(&toolbox).await;
        toolbox.close().await;
        done
    })
}

async fn tools(toolbox: &Toolbox) -> Vec<ServerTool> {
    match toolbox.list("s", TIMEOUT).await {
        Outcome::Returned(it) => ServerTool::listed("s", &it.value),
        other => panic!("no tools: {other:?}"),
    }
}

/// The result of a call, on a line.
async fn call(toolbox: &Toolbox, tool: &str, arguments: &str) -> String {
    match toolbox.call("s", tool, &value(arguments), TIMEOUT).await {
        Outcome::Returned(it) => format!("{}{}", if it.is_error { "error: " } else { "" }, it.value.to_json()),
        Outcome::Fault(it) => format!("{}: {}", it.kind.name(), it.message),
        other => panic!("neither result nor fault: {other:?}"),
    }
}

#[test]
fn a_server_reports_the_time() {
    with(time(), TIMEOUT, async |toolbox| {
        let tools = tools(toolbox).await;
        let names: Vec<&str> = tools.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["get_current_time", "convert_time"]);
        assert_eq!(tools[0].parameters.get("type").and_then(Val::as_str), Some("object"));
        let said = call(toolbox, "get_current_time", r#"{"timezone": "Europe/Paris"}"#).await;
        assert!(said.starts_with(r#"{"text":"#) && said.contains("Europe/Paris"), "{said}");
        let wrong = call(toolbox, "get_current_time", r#"{"timezone": "Mars/Olympus"}"#).await;
        assert!(wrong.starts_with("error: ") && wrong.contains("Mars/Olympus"), "{wrong}");
        let missing = call(toolbox, "get_current_time", "{}").await;
        assert!(missing.starts_with("error: ") && missing.contains("timezone"), "{missing}");
        let identity = toolbox.identity("s").await.expect("it is open");
        assert_eq!(identity.protocol, "2025-11-25");
    });
}

#[test]
fn what_a_server_refuses_to_fetch_is_an_error_of_the_tool() {
    with(started(&["bin/mcp-server-fetch", "--ignore-robots-txt"]), TIMEOUT, async |toolbox| {
        let said = call(toolbox, "fetch", &format!(r#"{{"url": "{}/"}}"#, address("JURAT_TEST_MCP"))).await;
        assert!(said.starts_with("error: "), "{said}");
    });
}

/// What the reference server does, whichever way it is asked.
async fn does_everything(toolbox: &Toolbox) {
    let tools = tools(toolbox).await;
    assert!(tools.len() > 8, "{tools:?}");
    let sum = tools.iter().find(|it| it.name == "get-sum").expect("it adds");
    let properties = sum.parameters.get("properties").and_then(Val::as_map).expect("it has parameters");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(call(toolbox, "echo", r#"{"message": "hällo"}"#).await, r#"{"text":"Echo: hällo"}"#);
    let said = call(toolbox, "get-sum", r#"{"a": 2, "b": 3}"#).await;
    assert!(said.contains('5'), "{said}");
    let said = call(toolbox, "get-sum", r#"{"a": "two", "b": 3}"#).await;
    assert!(said.starts_with("error: "), "{said}");
    let said = call(toolbox, "get-tiny-image", "{}").await;
    assert!(said.contains("[image: image/png, ") && said.contains(" bytes]"), "{said}");
    let Outcome::Returned(drawn) = toolbox.call("s", "get-tiny-image", &value("{}"), TIMEOUT).await else {
        panic!("the tool returned once")
    };
    let drawn: Vec<(&str, bool)> = drawn.media.iter().map(|it| (it.media_type.as_str(), it.n_bytes > 100)).collect();
    assert_eq!(drawn, [("image/png", true)]);
    let listed = call(toolbox, "list_resources", "{}").await;
    assert!(listed.contains("demo://resource/"), "{listed}");
    let read = call(toolbox, "read_resource", r#"{"uri": "demo://resource/dynamic/text/1"}"#).await;
    assert!(read.starts_with(r#"{"text":"#) && !read.contains("[resource"), "{read}");
    let nowhere = call(toolbox, "read_resource", r#"{"uri": "demo://nowhere"}"#).await;
    assert!(nowhere.starts_with("error: "), "{nowhere}");
    let said = call(toolbox, "get-structured-content", r#"{"location": "Chicago"}"#).await;
    assert!(said.contains(r#""structured":{"temperature""#), "{said}");
    let unknown = call(toolbox, "ecko", "{}").await;
    assert_eq!(unknown, "tool: the server `s` has no tool `ecko`; did you mean `echo`?");
}

#[test]
fn the_reference_server_is_understood_over_standard_input_and_output() {
    asked(everything(), TIMEOUT, true, does_everything);
}

#[test]
fn the_reference_server_is_understood_over_http() {
    asked(everything_over_http(), TIMEOUT, true, does_everything);
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    for reach in [everything(), everything_over_http()] {
        with(reach, Duration::from_secs(2), async |toolbox| {
            assert!(!tools(toolbox).await.is_empty());
            let long = r#"{"duration": 60, "steps": 60}"#;
            let said = call(toolbox, "trigger-long-running-operation", long).await;
            let given_up = "timeout: the server `s` did not answer `trigger-long-running-operation` within 2 s";
            assert!(said.starts_with(given_up), "{said}");
            assert_eq!(call(toolbox, "echo", r#"{"message": "on"}"#).await, r#"{"text":"Echo: on"}"#);
        });
    }
}

#[test]
fn a_server_that_dies_in_the_middle_is_a_fault() {
    // The server writes its number before it becomes the program, so that it can be killed from here.
    let folder = tempfile::tempdir().expect("a folder can be made");
    let number = folder.path().join("number");
    let Reach::Program { command, .. } = everything() else { panic!("it is a program") };
    let shell = ["sh", "-c", "echo $$ > \"$0\"; exec \"$@\"", &number.display().to_string()].map(str::to_owned);
    let command = shell.into_iter().chain(command).collect();
    with(Reach::Program { command, env: Vec::new(), cwd: None }, TIMEOUT, async |toolbox| {
        assert!(!tools(toolbox).await.is_empty());
        let long = r#"{"duration": 60, "steps": 60}"#;
        let killed = async {
            tokio::task::yield_now().await;
            kill(&number);
        };
        let (said, ()) = tokio::join!(call(toolbox, "trigger-long-running-operation", long), killed);
        // Which request it did not answer depends on whether it had announced another list of tools by then.
        let dead = "tool: the server `s` ended (signal: 9 (SIGKILL)) before it answered ";
        assert!(said.starts_with(dead), "{said}");
        assert_eq!(call(toolbox, "echo", r#"{"message": "again"}"#).await, r#"{"text":"Echo: again"}"#);
    });
}

/// Kills the process whose number stands in a file.
fn kill(file: &Path) {
    let number = std::fs::read_to_string(file).expect("there is a number");
    let killed = std::process::Command::new("kill").args(["-9", number.trim()]).status().expect("`kill` starts");
    assert!(killed.success());
}
