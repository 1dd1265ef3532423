//! What each agent really printed, and what is read from it.
//!
//! `tests/agents/RUNNER/CASE/` holds a stream that the real program left, against an endpoint that asked for two calls of tools or refused, and
//! `told.txt`, what is read from it. `JURAT_BLESS=1` writes the latter anew; look at its diff.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use jurat_core::agent::{Printed, Runner, Told, read};
use jurat_core::artifact::{Event, Happening};
use jurat_core::value::Val;
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

fn runner(folder: &Path) -> Runner {
    let name = folder.file_name().and_then(|it| it.to_str()).expect("a name");
    Runner::NAMED.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no runner `{name}`")).1
}

/// The output and the side file of a recording.
fn recorded(case: &Path) -> (String, String) {
    let text = |name: &str| fs::read_to_string(case.join(name)).unwrap_or_default();
    let stdout = ["stream.jsonl", "stdout.json"].iter().map(|it| text(it)).find(|it| !it.is_empty());
    let side = ["transcript.jsonl", "trajectory.json"].iter().map(|it| text(it)).find(|it| !it.is_empty());
    (stdout.unwrap_or_default(), side.unwrap_or_default())
}

fn shown(told: &Told) -> String {
    let mut text = String::new();
    for Event { timestamp, what, .. } in &told.events {
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
    let Told { usage, response, fault, session, model, version, .. } = told;
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
            let (stdout, side) = recorded(&case);
            assert!(!stdout.is_empty() || !side.is_empty(), "{} has no recording", case.display());
            let told = shown(&read(runner(&of_runner), Printed { stdout: &stdout, side: &side, is_text: false }));
            let file = case.join("told.txt");
            if std::env::var_os("JURAT_BLESS").is_some() {
                fs::write(&file, &told).expect("the file can be written");
            }
            if fs::read_to_string(&file).unwrap_or_default() != told {
                stale.push(format!("{}:\n{told}", file.display()));
            }
        }
    }
    assert_eq!(stale, Vec::<String>::new());
    assert_eq!(n_runners, 9, "every program has recordings, and so has the protocol of commands");
}

/// Every program was driven through two calls of tools and a last word, and its tokens are known.
#[test]
fn every_program_tells_calls_results_tokens_and_a_last_word() {
    for of_runner in entries(&folder()) {
        let (stdout, side) = recorded(&of_runner.join("done"));
        let told = read(runner(&of_runner), Printed { stdout: &stdout, side: &side, is_text: false });
        let name = of_runner.display();
        let n = |is: fn(&Happening) -> bool| told.events.iter().filter(|it| is(&it.what)).count();
        assert!(n(|it| matches!(it, Happening::ToolCall { .. })) >= 2, "{name}");
        assert!(n(|it| matches!(it, Happening::ToolResult { is_error: Some(false), .. })) >= 2, "{name}");
        assert!(told.response.is_some_and(|it| it.contains("report.md")), "{name}");
        assert_eq!(told.fault, None, "{name}");
        let tokens = told.usage.normalized;
        assert_eq!(tokens.input.zip(tokens.output).map(|(a, b)| a + b), tokens.total, "{name}");
        assert_eq!(tokens.output, Some(60), "{name}");
        assert_eq!(tokens.cached_input, Some(120), "{name}");
    }
}

proptest! {
    #![proptest_config(super::laws())]

    /// A stream that breaks off anywhere is a fault, or loses nothing but what comes after its end; and no reader panics.
    #[test]
    fn a_stream_that_breaks_off_is_no_success(cut in 0.0f64..1.0) {
        for of_runner in entries(&folder()) {
            let (stdout, side) = recorded(&of_runner.join("done"));
            let upto = |text: &str| {
                let text = text.trim_end();
                let mut end = (text.len() as f64 * cut) as usize;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text[..end].to_owned()
            };
            let (cut_out, cut_side) = (upto(&stdout), upto(&side));
            let told = read(runner(&of_runner), Printed { stdout: &cut_out, side: &cut_side, is_text: false });
            prop_assert!(told.fault.is_some(), "{} at {cut}", of_runner.display());
        }
    }

    /// Whatever a program prints, reading ends and says something.
    #[test]
    fn anything_can_be_read(lines in proptest::collection::vec("[ -~]{0,60}|\\{\"type\": ?\"[a-z_.]{0,16}\".{0,40}\\}", 0..8)) {
        let text = lines.join("\n");
        for (_, runner) in Runner::NAMED {
            let _ = read(runner, Printed { stdout: &text, side: &text, is_text: false });
        }
    }
}
