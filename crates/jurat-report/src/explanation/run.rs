//! What an agent did in a case, from its evidence: what it was told, what it said and called, what it left.

use std::io::{self, Write};

use jurat_core::value::Val;

use super::json::VERSION;
use super::text::{ROOM, Writer};
use crate::Style;
use crate::json_text::object;
use crate::visible::visible_line;
use crate::words::{self, counted, cut, money};

/// How much of what a tool was called with, or returned, is shown.
const MOST_LINES: usize = 12;

/// How much of a diff is shown.
const MOST_DIFF_LINES: usize = 60;

/// Writes the evidence of an agent's run as text.
pub fn write_run(out: &mut dyn Write, evidence: &Val<'_>, style: Style) -> io::Result<()> {
    let mut writer = Writer { out, style };
    writer.title("the run")?;
    let identity = evidence.get("identity").unwrap_or(&Val::Null);
    let metadata = evidence.get("runner_metadata").unwrap_or(&Val::Null);
    let text = |value: &Val<'_>, key: &str| value.get(key).and_then(Val::as_str).map(str::to_owned);
    let runner = text(identity, "runner_type").unwrap_or_default();
    let version = metadata.get("program").and_then(|it| text(it, "version"));
    writer
        .line("runner", &visible_line(&[Some(runner), version].into_iter().flatten().collect::<Vec<_>>().join(" ")))?;
    writer.optional("model", evidence.get("request").and_then(|it| text(it, "requested_model")).as_deref())?;
    writer.optional("ran in", text(metadata, "place").as_deref())?;
    writer.optional("ended", text(evidence, "status").as_deref())?;
    if let Some(error) = evidence.get("error") {
        writer.optional("because", text(error, "message").as_deref())?;
    }
    let seconds = evidence.get("timing").and_then(|it| it.get("duration_seconds")).and_then(Val::as_f64);
    if let Some(took) = seconds.and_then(|it| std::time::Duration::try_from_secs_f64(it).ok()) {
        writer.line("took", &words::duration(took))?;
    }
    let usage = evidence.get("usage").unwrap_or(&Val::Null);
    if let Some(cost) = usage.get("cost_usd").and_then(Val::as_f64) {
        writer.line("cost", &money(cost))?;
    }
    writer.optional("kept in", text(metadata, "directory").map(|it| format!(".jurat/agents/{it}")).as_deref())?;
    let events = evidence.get("trace").and_then(Val::as_list).unwrap_or_default();
    writer.title(&format!("what happened, {}", counted(events.len() as u64, "event")))?;
    events.iter().try_for_each(|it| writer.event(it))?;
    let changes = evidence.get("workspace").unwrap_or(&Val::Null);
    let lists = [("added", "added"), ("changed", "changed"), ("removed", "removed")];
    if lists.iter().any(|(key, _)| changes.get(key).and_then(Val::as_list).is_some_and(|it| !it.is_empty())) {
        writer.title("what it made of its workspace")?;
        for (key, name) in lists {
            let paths = changes.get(key).and_then(Val::as_list).unwrap_or_default();
            for path in paths.iter().filter_map(Val::as_str) {
                writer.line(name, &visible_line(path))?;
                // A path may have any character, so it is a key, not a field path.
                let file = changes.get("files").and_then(Val::as_map).and_then(|it| it.get(path));
                if let Some(diff) = file.and_then(|it| text(it, "diff")) {
                    writer.quoted(&shortened(diff.trim_end_matches('\n'), MOST_DIFF_LINES))?;
                }
            }
        }
    }
    Ok(())
}

impl Writer<'_> {
    fn event(&mut self, event: &Val<'_>) -> io::Result<()> {
        let text = |key: &str| event.get(key).and_then(Val::as_str).unwrap_or_default();
        let plain = |key: &str| match event.get(key) {
            Some(Val::Str(text)) => text.clone().into_owned(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        match text("event_type") {
            "message" => {
                writeln!(self.out, "  {}", visible_line(text("role")))?;
                self.quoted(&shortened(&plain("content"), MOST_LINES))
            }
            "tool_call" => {
                let arguments = event.get("parsed_arguments").or_else(|| event.get("raw_arguments"));
                let arguments = arguments.map_or_else(String::new, ToString::to_string);
                let called = format!("{} {}", text("tool_name"), arguments);
                self.line("calls", &visible_line(&cut(&called, 4 * ROOM)))
            }
            "tool_result" => {
                let is_error = text("status") == "error";
                writeln!(self.out, "  {}", if is_error { "failed" } else { "returned" })?;
                self.quoted(&shortened(&plain("output"), MOST_LINES))
            }
            "final_output" => {
                writeln!(self.out, "  last word")?;
                self.quoted(&plain("content"))
            }
            _ if text("name") == "turn_ended" => {
                let ending = event.get("detail").and_then(|it| it.get("ending")).and_then(Val::as_str);
                self.line("ended", &visible_line(ending.unwrap_or_default()))
            }
            _ => {
                let noted = format!("{} {}", text("name"), plain("detail"));
                self.line("note", &visible_line(&cut(noted.trim_end(), 2 * ROOM)))
            }
        }
    }
}

/// The first lines of a text, with a word about the rest.
fn shortened(text: &str, most: usize) -> String {
    let n_lines = text.lines().count();
    if n_lines <= most {
        return text.to_owned();
    }
    let first: Vec<&str> = text.lines().take(most).collect();
    format!("{}\n… {} more lines", first.join("\n"), n_lines - most)
}

/// Writes the evidence of an agent's run as one JSON object.
pub fn write_run_json(
    out: &mut dyn Write,
    suite: &str,
    run_id: &str,
    case: &str,
    evidence: &Val<'_>,
) -> io::Result<()> {
    let mut text = String::new();
    object(&mut text, |members| {
        members.number("version", VERSION);
        members.text("suite", suite);
        members.text("run_id", run_id);
        members.text("case", case);
        members.value("run", &evidence.clone().into_owned());
    });
    writeln!(out, "{text}")
}
