//! What an agent did in a case, from its evidence: its input, what it said and called, what it left.

use std::collections::BTreeMap;
use std::io::{self, Write};

use jurat_format::value::Val;

use super::json::VERSION;
use super::text::{ROOM, Writer, fitted};
use crate::Style;
use crate::json_text::write_line;
use crate::visible::visible_line;
use crate::words::{self, counted, cut, grouped, money};

/// How much of what a tool was called with, or returned, is shown.
const MOST_LINES: usize = 12;

/// How much of a diff is shown.
const MOST_DIFF_LINES: usize = 60;

/// Writes the evidence of an agent's run as text, in a window of this width when there is one.
pub fn write_run(out: &mut dyn Write, evidence: &Val<'_>, style: Style, width: Option<usize>) -> io::Result<()> {
    fitted(out, width, |out| write_lines(out, evidence, style))
}

fn write_lines(out: &mut dyn Write, evidence: &Val<'_>, style: Style) -> io::Result<()> {
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
    let requests = count(metadata, "requests").map(|it| format!(" in {}", counted(it, "request")));
    let tokens = usage.get("normalized").and_then(tokens);
    writer.optional("tokens", tokens.map(|it| it + &requests.unwrap_or_default()).as_deref())?;
    if let Some(reported) = metadata.get("reported_usage").and_then(self::tokens) {
        writer.line("reported", &format!("{reported} by the program itself; what passed the proxy counts"))?;
    }
    if let Some(cost) = usage.get("cost_usd").and_then(Val::as_f64) {
        writer.line("cost", &money(cost))?;
    }
    writer.optional("polled", metadata.get("enforced_by").and_then(polled).as_deref())?;
    writer.optional("files", text(metadata, "directory").map(|it| format!(".jurat/agents/{it}")).as_deref())?;
    let events = evidence.get("trace").and_then(Val::as_list).unwrap_or_default();
    writer.title(&format!("what happened, {}", counted(events.len() as u64, "event")))?;
    let calls = Calls::of(events);
    for (ix, event) in events.iter().enumerate() {
        writer.event(event, calls.answered(events, ix).as_deref())?;
    }
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

/// The limits that the kernel did not enforce: what used more was ended, a moment later.
fn polled(enforced_by: &Val<'_>) -> Option<String> {
    let is_polled = |(_, by): &(&str, &Val<'_>)| by.as_str() == Some("polling");
    let limits = enforced_by.as_map()?.iter().filter(is_polled).map(|(limit, _)| match limit {
        "memory" => "memory (without buffers of sockets)".to_owned(),
        other => other.replace('_', " "),
    });
    let limits: Vec<String> = limits.collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

fn count(value: &Val<'_>, key: &str) -> Option<u64> {
    match value.get(key) {
        Some(Val::I(count)) => u64::try_from(*count).ok(),
        Some(Val::U(count)) => Some(*count),
        _ => None,
    }
}

/// Input and output tokens, where both are known.
fn tokens(counts: &Val<'_>) -> Option<String> {
    let (input, output) = (count(counts, "input_tokens")?, count(counts, "output_tokens")?);
    Some(format!("{} input, {} output", grouped(input), grouped(output)))
}

fn called(event: &Val<'_>) -> String {
    let arguments = event.get("parsed_arguments").or_else(|| event.get("raw_arguments"));
    let name = event.get("tool_name").and_then(Val::as_str).unwrap_or_default();
    format!("{name} {}", arguments.map_or_else(String::new, ToString::to_string))
}

/// The calls of tools in a trace, by their ids.
struct Calls<'e>(BTreeMap<&'e str, &'e Val<'e>>);

impl<'e> Calls<'e> {
    fn of(events: &'e [Val<'e>]) -> Calls<'e> {
        let is_call = |it: &&Val<'_>| it.get("event_type").and_then(Val::as_str) == Some("tool_call");
        let id = |it: &'e Val<'e>| Some((it.get("call_id")?.as_str()?, it));
        Calls(events.iter().filter(is_call).filter_map(id).collect())
    }

    /// The call that a result answers, where that is not the event before it.
    fn answered(&self, events: &[Val<'_>], ix: usize) -> Option<String> {
        let id = events[ix].get("call_id")?.as_str()?;
        let before = ix.checked_sub(1).and_then(|ix| events[ix].get("call_id")).and_then(Val::as_str);
        let call = self.0.get(id).filter(|_| before != Some(id))?;
        Some(visible_line(&cut(called(call).trim_end(), ROOM)).to_string())
    }
}

impl Writer<'_> {
    fn event(&mut self, event: &Val<'_>, answered: Option<&str>) -> io::Result<()> {
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
            "tool_call" => self.line("calls", &visible_line(&cut(&called(event), 4 * ROOM))),
            "tool_result" => {
                let is_error = text("status") == "error";
                let ending = if is_error { "failed" } else { "returned" };
                match answered {
                    Some(call) => self.line(ending, call)?,
                    None => writeln!(self.out, "  {ending}")?,
                }
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
    write_line(out, |members| {
        members.number("version", VERSION);
        members.text("suite", suite);
        members.text("run_id", run_id);
        members.text("case", case);
        members.value("run", &evidence.clone().into_owned());
    })
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    fn written(evidence: &str) -> String {
        let mut out = Vec::new();
        let evidence = parse_json(evidence).expect("JSON").value;
        write_run(&mut out, &evidence, Style::default(), None).expect("memory");
        String::from_utf8(out).expect("text")
    }

    /// Results of calls that were made at once come in any order.
    #[test]
    fn a_result_says_which_call_it_answers() {
        let call = |id: &str, path: &str| {
            format!(
                r#"{{"event_type":"tool_call","call_id":"{id}","tool_name":"read","parsed_arguments":{{"path":"{path}"}}}}"#
            )
        };
        let result = |id: &str, output: &str| {
            format!(r#"{{"event_type":"tool_result","call_id":"{id}","status":"success","output":"{output}"}}"#)
        };
        let events =
            [call("1", "a"), call("2", "b"), result("2", "B"), result("1", "A"), call("3", "c"), result("3", "C")];
        let text = written(&format!(r#"{{"trace":[{}]}}"#, events.join(",")));
        let expected = "  calls     read {\"path\": \"a\"}\n  calls     read {\"path\": \"b\"}\n  returned\n    │ B\n  \
                        returned  read {\"path\": \"a\"}\n    │ A\n  calls     read {\"path\": \"c\"}\n  returned\n    │ C\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn limits_that_are_only_polled_are_named() {
        let by = |memory: &str| {
            format!(
                r#"{{"runner_metadata":{{"enforced_by":{{"disk_space":"polling","file_size":"rlimit","memory":"{memory}"}}}}}}"#
            )
        };
        let text = written(&by("polling"));
        assert!(text.contains("  polled    disk space, memory (without buffers of sockets)\n"), "{text}");
        let text = written(&by("cgroup"));
        assert!(text.contains("  polled    disk space\n"), "{text}");
    }

    #[test]
    fn what_the_program_reports_stands_beside_what_passed() {
        let text = written(
            r#"{"usage":{"normalized":{"input_tokens":1520,"output_tokens":100},"cost_usd":0.5},
                "runner_metadata":{"requests":5,"reported_usage":{"input_tokens":420,"output_tokens":80}}}"#,
        );
        assert!(text.contains("  tokens    1,520 input, 100 output in 5 requests\n"), "{text}");
        assert!(
            text.contains("  reported  420 input, 80 output by the program itself; what passed the proxy counts\n"),
            "{text}"
        );
    }
}
