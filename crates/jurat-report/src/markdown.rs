//! A run as Markdown, for pull requests: totals first, then the cases that did not pass, folded away.
//!
//! Everything that comes from data or from a model stands in `<code>` with its punctuation escaped: it can neither make markup nor call
//! people by their names.

use std::fmt::Write as _;
use std::io::{self, Write};

use jurat_core::report::scenario::StatusCounts;
use jurat_core::report::{CaseReport, Independence, RunReport, TaskReport, TaskTotal, TaskVerdict, interval};
use jurat_core::verdict::{CaseVerdict, Counts};
use jurat_format::value::Value;

use crate::case_writer::{CaseWriter, Scope};
use crate::columns::total;
use crate::corrected;
use crate::scenario;
use crate::visible::visible_line;
use crate::words::{self, case_name};

/// How many cases are shown by default.
pub const MOST_MARKDOWN_CASES: usize = 20;

/// How much of a text is shown.
const ROOM: usize = 300;

/// Writes a run as Markdown.
pub struct MarkdownWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    scope: Scope,
    most_cases: usize,
    n_shown: usize,
}

impl<'r> MarkdownWriter<'r> {
    /// Begins a run: writes its totals. At most this number of cases that did not pass is shown.
    pub fn new(
        out: &'r mut dyn Write,
        run: &'r RunReport,
        scope: Scope,
        most_cases: usize,
    ) -> io::Result<MarkdownWriter<'r>> {
        let mut head = String::new();
        write_head(&mut head, run, scope);
        write_totals(&mut head, run);
        write_dimensions(&mut head, run);
        write_slices(&mut head, run);
        write_subjects(&mut head, run);
        write_scenarios(&mut head, run);
        out.write_all(head.as_bytes())?;
        Ok(MarkdownWriter { out, run, scope, most_cases, n_shown: 0 })
    }
}

impl CaseWriter for MarkdownWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        if !is_shown(case) || !self.wants_more() {
            return Ok(());
        }
        if self.n_shown == 0 {
            writeln!(self.out, "<details>\n<summary>Cases that did not pass</summary>\n")?;
        }
        self.n_shown += 1;
        writeln!(self.out, "#### {} {}\n", code(&case_name(case)), case.verdict.name().replace('_', " "))?;
        if !case.message.is_empty() {
            writeln!(self.out, "- {}", code(&case.message))?;
        }
        for task in &case.tasks {
            let total = total(self.run, case, task)?;
            if let Some(line) = task_line(total, task) {
                writeln!(self.out, "{line}")?;
            }
        }
        writeln!(self.out)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.n_shown > 0 {
            let cases = &self.run.cases;
            let hidden = (cases.failed + cases.error + cases.not_run).saturating_sub(self.n_shown as u64);
            if hidden > 0 {
                writeln!(self.out, "… and {}\n", words::counted(hidden, "more case"))?;
            }
            writeln!(self.out, "</details>\n")?;
        }
        let observed = &self.run.observed;
        if self.scope.has_observed() && !observed.run_id.is_empty() {
            let took = if observed.resumed { "was resumed; the last of its processes took" } else { "took" };
            writeln!(self.out, "Run {} {took} {}.", code(&observed.run_id), words::duration(observed.wall))?;
        }
        self.out.flush()
    }

    fn wants_more(&self) -> bool {
        self.n_shown < self.most_cases
    }
}

/// Whether a reader of a pull request has to look at it.
fn is_shown(case: &CaseReport) -> bool {
    matches!(case.verdict, CaseVerdict::Failed | CaseVerdict::Error | CaseVerdict::NotRun)
}

fn write_head(text: &mut String, run: &RunReport, scope: Scope) {
    let _ = writeln!(text, "### {}\n", code(&run.suite));
    if let Some(description) = &run.description {
        let _ = writeln!(text, "{}\n", escaped(&words::cut(description, ROOM)));
    }
    if !run.decision.sentence.is_empty() {
        let _ = writeln!(text, "**{}**\n", escaped(&run.decision.sentence));
    }
    let _ = writeln!(text, "{}\n", crate::terminal::totals(run));
    let mut facts = vec![format!("pass rate {}", words::rate(run.counts.pass_rate()))];
    facts.extend(run.interval().map(|it| format!("95 % interval {}", words::interval(Some(it)))));
    facts.extend(words::cost(run.cost_usd, run.n_unpriced).map(|it| format!("cost {}", escaped(&it))));
    if run.usage.total() > 0 {
        facts.push(words::tokens(&run.usage));
    }
    if scope.has_observed() && run.observed.n_reused > 0 {
        let reused = words::grouped(run.observed.n_reused);
        facts.push(format!("{reused} of {} reused", words::counted(run.observed.n_answers, "response")));
    }
    let _ = writeln!(text, "{}\n", facts.join(" · "));
    for missed in run.decision.missed() {
        let _ = writeln!(text, "- threshold missed: {}", escaped(missed));
    }
    for note in &run.decision.notes {
        let _ = writeln!(text, "- note: {}", escaped(note));
    }
    for cause in &run.causes {
        let _ = writeln!(text, "- {} × {}", words::grouped(cause.n_cases), code(&words::cause(cause, ROOM)));
        if let Some(remedy) = &cause.remedy {
            let _ = writeln!(text, "  - {}", escaped(remedy));
        }
    }
    if run.n_other_errors > 0 {
        let _ = writeln!(text, "- {} for other reasons", words::counted(run.n_other_errors, "case"));
    }
    if scope.has_observed() {
        for sentence in corrected::sentences(run) {
            let _ = writeln!(text, "- {}", escaped(&sentence));
        }
        for note in &run.observed.notes {
            let _ = writeln!(text, "- {}", escaped(note));
        }
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
}

const COUNTS: &str = " passed | failed | measured | skipped | error | not run | pass rate | 95 % interval |";
const RULE: &str = "--:|--:|--:|--:|--:|--:|--:|:--|";

fn write_totals(text: &mut String, run: &RunReport) {
    let _ = writeln!(text, "| task |{COUNTS}\n|---|{RULE}");
    for task in &run.tasks {
        let gate = crate::terminal::uncounted(task.gate);
        let scenario = task.scenario.as_ref().map_or_else(String::new, |it| format!(" of {}", code(it)));
        write_row(text, &format!("{}{scenario}{gate}", code(&task.id)), &task.counts, task.independence);
    }
    text.push('\n');
}

fn write_dimensions(text: &mut String, run: &RunReport) {
    let is_judged = run.dimensions.iter().any(|it| it.judged.is_some());
    if run.dimensions.is_empty() || !(is_judged || run.names_dimensions) {
        return;
    }
    let _ = match is_judged {
        true => writeln!(
            text,
            "| dimension | judge score | interval of score | check score |{COUNTS}\n|---|---:|---:|---:|{RULE}"
        ),
        false => writeln!(text, "| dimension |{COUNTS}\n|---|{RULE}"),
    };
    for it in &run.dimensions {
        let score = it.score().map_or_else(String::new, |it| format!("{it:.1}"));
        let (mean, interval) = crate::terminal::judged_words(it);
        let judged = if is_judged { format!(" | {mean} | {interval} | {score}") } else { String::new() };
        write_row(text, &format!("{}{judged}", code(&it.name)), &it.counts, it.independence);
    }
    text.push('\n');
}

fn write_slices(text: &mut String, run: &RunReport) {
    if run.slices.is_empty() {
        return;
    }
    let _ = writeln!(text, "| slice |{COUNTS}\n|---|{RULE}");
    for slice in &run.slices {
        let value = slice.value.as_ref().map_or("(nothing)".to_owned(), |it| code(it));
        write_row(text, &format!("{} = {value}", code(&slice.path)), &slice.counts, slice.independence);
    }
    text.push('\n');
}

fn write_subjects(text: &mut String, run: &RunReport) {
    if run.subjects.len() < 2 {
        return;
    }
    let _ = writeln!(text, "| prompt | subject |{COUNTS}\n|---|---|{RULE}");
    for it in &run.subjects {
        let named = |name: &Option<String>| name.as_ref().map_or_else(String::new, |it| code(it));
        write_row(text, &format!("{} | {}", named(&it.prompt), named(&it.subject)), &it.counts, it.independence);
    }
    text.push('\n');
}

/// How many lines there are about scenarios, at most.
const MOST_SCENARIOS: usize = 50;

fn write_scenarios(text: &mut String, run: &RunReport) {
    if run.scenarios.is_empty() {
        return;
    }
    let counts =
        "cases | completed | limit reached | timeout | error | not run | turns verified | turns min/mean/max |";
    let _ = writeln!(text, "| scenario | {counts}\n|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for it in run.scenarios.iter().take(MOST_SCENARIOS) {
        let StatusCounts { completed, limit_reached, timeout, error, not_run } = it.statuses;
        let (n, turns) = (it.statuses.total(), &it.turns);
        let spread = turns.mean().map_or_else(String::new, |mean| format!("{}/{mean:.1}/{}", turns.least, turns.most));
        let verified = words::part(turns.verified, turns.judged);
        let name = code(&it.graph.name);
        let _ = writeln!(
            text,
            "| {name} | {n} | {completed} | {limit_reached} | {timeout} | {error} | {not_run} | {verified} | {spread} |"
        );
    }
    let n_more = run.scenarios.len().saturating_sub(MOST_SCENARIOS) as u64;
    if n_more > 0 {
        let _ = writeln!(text, "\n… and {}", words::counted(n_more, "more scenario"));
    }
    text.push('\n');
    if let Some(line) = words::unconcluded(run) {
        let _ = writeln!(text, "{line}\n");
    }
    write_unexercised(text, run);
}

fn write_unexercised(text: &mut String, run: &RunReport) {
    let all: Vec<String> = run
        .scenarios
        .iter()
        .flat_map(|it| {
            scenario::unexercised(it).into_iter().map(|what| format!("- {}: {}", code(&it.graph.name), code(&what)))
        })
        .collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "<details>\n<summary>Not exercised in this run</summary>\n");
    for line in all.iter().take(MOST_SCENARIOS) {
        let _ = writeln!(text, "{line}");
    }
    let n_more = all.len().saturating_sub(MOST_SCENARIOS) as u64;
    if n_more > 0 {
        let _ = writeln!(text, "- … and {n_more} more");
    }
    let _ = writeln!(text, "\n</details>\n");
}

fn write_row(text: &mut String, name: &str, counts: &Counts, independence: Independence) {
    let Counts { passed, failed, measured, skipped, errored, not_run } = counts;
    let rate = words::rate(counts.pass_rate());
    let interval = words::interval(interval(counts, independence));
    let _ = writeln!(
        text,
        "| {name} | {passed} | {failed} | {measured} | {skipped} | {errored} | {not_run} | {rate} | {interval} |"
    );
}

/// What there is to say about a task that failed, could not be judged or did not run.
fn task_line(total: &TaskTotal, task: &TaskReport) -> Option<String> {
    match task.verdict {
        TaskVerdict::Failed if total.is_counted() => {}
        TaskVerdict::Error | TaskVerdict::NotRun => {}
        _ => return None,
    }
    let mut line = format!("- {} {}", code(&total.id), task.verdict.name().replace('_', " "));
    if task.message.is_empty() {
        let shown = |name: &str, it: Option<&Value>| it.map(|it| format!("{name} {}", code(&words::value(it, ROOM))));
        let operands = [shown("expected", task.expected.as_ref()), shown("found", task.actual.as_ref())];
        let operands: Vec<String> = operands.into_iter().flatten().collect();
        if !operands.is_empty() {
            let _ = write!(line, ": {}", operands.join(", "));
        }
    } else {
        let _ = write!(line, ": {}", code(&task.message));
    }
    if let Some(explanation) = &task.explanation {
        let _ = write!(line, "\n  - {}", code(explanation));
    }
    Some(line)
}

/// Other people's text as code, on one line, cut where it is long.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", escaped(&words::cut(text, ROOM))) }
}

/// The text with everything escaped that Markdown, HTML or a code host reads as more than itself.
pub(crate) fn escaped(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    for it in visible_line(text).chars() {
        match it {
            '&' => markdown.push_str("&amp;"),
            '<' => markdown.push_str("&lt;"),
            '>' => markdown.push_str("&gt;"),
            // Backslashes cannot be counted on here: a table takes `\|` apart before code is looked for.
            '|' => markdown.push_str("&#124;"),
            '`' => markdown.push_str("&#96;"),
            '\\' | '*' | '_' | '[' | ']' | '(' | ')' | '{' | '}' | '#' | '~' | '$' | '!' | '^' | ':' | '@' | '.' => {
                let _ = write!(markdown, "\\{it}");
            }
            it => markdown.push(it),
        }
    }
    markdown
}
