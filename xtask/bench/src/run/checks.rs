//! Checks: what it costs to judge runs that were kept.
//!
//! Each run has an artifact and the files that it left, on disk, as an agent leaves them; a suite of twenty checks looks at all of them. The suite names no
//! program and no model, so there is nobody to be started or asked.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::figure::{Figure, Target, Unit, grouped};
use super::scratch::write;
use super::{Kit, Lines};
use crate::rounds::least;
use chores::chore::Failure;

/// The most microseconds of CPU that a check may take: 20,000 checks in a second of CPU.
const MOST_US: f64 = 50.0;

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    lines.add("checks: CPU of a check", rescored(kit));
}

fn rescored(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let (n_runs, n_rounds) = if kit.is_quick { (200, 3) } else { (1_000, 7) };
    let directory = recorded(kit, n_runs)?;
    let n_checks = n_runs * CHECKS.len() as u64;
    let mut cpu_us = Vec::new();
    for round in 1..=n_rounds {
        eprintln!("checks: round {round} of {n_rounds}");
        cpu_us.push(kit.jurat.rescore(&kit.yardstick, &directory, n_runs)?.cpu_us());
    }
    let (runs, checks) = (grouped(n_runs), CHECKS.len());
    let note = format!("{runs} runs with {checks} checks each; starting, reading and keeping are in the figure");
    let figure = Figure::new("checks: CPU of a check", least(&cpu_us) / n_checks as f64, Unit::Microseconds);
    Ok(vec![figure.target(Target::AtMost(MOST_US)).note(note)])
}

/// Twenty checks of nearly all kinds; six of them look at files.
const CHECKS: [&str; 20] = [
    "kind: final_response_present",
    "kind: tool_call_count, expected: 4",
    "kind: status_is, expected: success",
    "kind: workspace_file_present, relative_path: report.md, contains: 'Total: 12'",
    "kind: workspace_file_present, relative_path: report.md, contains_all: [FEEDBACK, sebastian]",
    "kind: workspace_file_present, relative_path: report.md, contains_any: [leaks, drips]",
    "kind: workspace_file_present, relative_path: orders.csv",
    "kind: output_artifact_present, artifact_type: command_key_output",
    "kind: final_response, operator: contains, expected_value: report.md",
    "kind: tool_called, tool: search, min: 1, max: 3",
    "kind: tool_called, tool: read_file, arguments: { path: notes.txt }",
    "kind: tool_not_called, tool: shell",
    "kind: tool_order, tools: [search, read_file, write_file]",
    "kind: tool_result, tool: write_file, status: success",
    "kind: cost_usd, max: 0.05",
    "kind: tokens, max: 20000",
    "kind: file_matches, workspace: report.md, operator: starts_with, expected_value: '# Week'",
    "kind: duration_seconds, max: 60",
    "kind: exit_status, expected: 0",
    "kind: file_contains, path: guideline.md, text: politely",
];

/// A directory with runs that were kept, and a suite over them.
fn recorded(kit: &Kit, n_runs: u64) -> Result<PathBuf, Failure> {
    let directory = kit.scratch.directory("checks")?;
    let mut suite = "suite: kept\nagents: { kept: { runner: recorded } }\ncases:\n".to_owned();
    for ix in 0..n_runs {
        let id = format!("run-{ix:04}");
        let report = report(ix);
        write(&directory.join(&id).join("report.md"), &report)?;
        write(&directory.join(&id).join("orders.csv"), "order,amount\n118,12\n".repeat(20))?;
        write(&directory.join(&id).join("run.json"), artifact(&id, &report).to_string())?;
        suite.push_str(&format!("  - {{ id: {id}, artifact: {id}/run.json }}\n"));
    }
    suite.push_str("tasks:\n");
    for (nth, check) in CHECKS.iter().enumerate() {
        suite.push_str(&format!("  - {{ id: c{}, check: {{ {check} }} }}\n", nth + 1));
    }
    write(&directory.join("guideline.md"), "Answer politely.\n")?;
    write(&directory.join("suite.yaml"), &suite)?;
    Ok(directory)
}

fn report(ix: u64) -> String {
    let line = "Order 118 leaks; the customer Sebastián gave feedback and wants a new one by the end of the week.\n";
    format!("# Week {ix}\n\n{}\nTotal: 12\n", line.repeat(20))
}

/// An artifact of a run with four calls, about 8 KB.
fn artifact(id: &str, report: &str) -> Value {
    let mut trace = vec![
        json!({ "event_type": "message", "role": "user", "content": "Sum up the notes of this week in report.md." }),
    ];
    let calls = [
        ("search", json!({ "query": "orders of this week" }), "notes.txt\norders.csv".to_owned()),
        ("read_file", json!({ "path": "notes.txt" }), "Order 118 leaks. ".repeat(40)),
        ("read_file", json!({ "path": "orders.csv" }), "order,amount\n118,12\n".to_owned()),
        ("write_file", json!({ "path": "report.md", "content": report }), String::new()),
    ];
    for (nth, (tool, arguments, output)) in calls.iter().enumerate() {
        let call_id = format!("call-{nth}");
        trace.push(json!({ "event_type": "message", "role": "assistant", "content": "Next." }));
        trace.push(
            json!({ "event_type": "tool_call", "call_id": call_id, "tool_name": tool, "parsed_arguments": arguments }),
        );
        trace.push(json!({ "event_type": "tool_result", "call_id": call_id, "status": "success", "output": output }));
    }
    trace.push(json!({ "event_type": "final_output", "content": "report.md has the week." }));
    for (sequence, event) in trace.iter_mut().enumerate() {
        event["sequence"] = json!(sequence);
    }
    let output = |nth: u64, path: &str| {
        json!({
            "artifact_id": format!("command_key_output_{nth}"),
            "artifact_type": "command_key_output",
            "uri": format!("file:{path}"),
            "metadata": { "workspace_relative_path": path },
        })
    };
    json!({
        "identity": {
            "schema_version": 1, "run_id": id, "case_id": id, "suite_id": "kept", "run_profile_id": "p", "runner_type": "command",
        },
        "status": "success",
        "timing": { "started_at": "2026-11-01T10:00:00Z", "completed_at": "2026-11-01T10:00:12Z", "duration_seconds": 12.0 },
        "request": { "requested_model": "openai/small" },
        "usage": {
            "normalized": { "input_tokens": 9000, "output_tokens": 800, "total_tokens": 9800 },
            "cost_usd": 0.0123,
        },
        "trace": trace,
        "output_artifacts": [output(1, "report.md"), output(2, "orders.csv")],
        "runner_metadata": { "exit_status": 0 },
    })
}
