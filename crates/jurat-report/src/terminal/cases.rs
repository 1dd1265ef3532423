//! Cases under each other: what was asked, what came back, and what each task says about it.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, OutputReport, RunReport, TaskReport, TaskTotal, TaskVerdict};
use jurat_core::verdict::CaseVerdict;
use jurat_format::value::Value;
use unicode_width::UnicodeWidthStr;

use super::tables::uncounted;
use crate::Style;
use crate::columns::total;
use crate::style::Meaning;
use crate::words::{self, case_name, cut};
use crate::wrap::{one_line, wrapped};

/// How cases are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listing<'l> {
    pub(crate) run: &'l RunReport,
    pub(crate) style: Style,
    /// How wide the window is; nothing when it is none.
    pub(crate) width: Option<usize>,
    /// Whether every task is listed; else only those that failed, could not be judged or did not run.
    pub(crate) every_task: bool,
    /// Whether texts are whole; else each has one line.
    pub(crate) is_full: bool,
}

/// How wide a line is where there is no window.
const WIDTH: usize = 160;

/// How much of a name, a value and a text is shown.
const ROOM_FOR_NAMES: usize = 200;
const ROOM_FOR_VALUES: usize = 60;
const ROOM_FOR_TEXTS: usize = 4000;

/// The widest column of names; longer ones have a line of their own.
const WIDEST_NAME: usize = 24;

/// What stands in front of names.
const INDENT: usize = 4;

/// Something to say about a case.
struct Entry {
    mark: &'static str,
    meaning: Option<Meaning>,
    name: String,
    paragraphs: Vec<String>,
}

impl Listing<'_> {
    /// Writes a case: its name, what was asked and answered, and its tasks.
    pub(crate) fn write(&self, out: &mut dyn Write, case: &CaseReport) -> io::Result<()> {
        let verdict = case.verdict.name().replace('_', " ");
        let room = self.width.map_or(ROOM_FOR_NAMES, |it| it.saturating_sub(verdict.len() + 2).max(WIDEST_NAME));
        let name = self.style.meant(Meaning::Name, &one_line(&case_name(case), room));
        writeln!(out, "{name}: {}", self.marked(case_meaning(case.verdict), &verdict))?;
        let mut entries: Vec<Entry> = fault(case).into_iter().collect();
        for task in &case.tasks {
            entries.extend(self.task(total(self.run, case, task)?, task));
        }
        let names = entries.iter().map(|it| &it.name).chain(case.exchange.iter().map(|(name, _)| name));
        let widest = names.map(|it| it.width()).filter(|it| *it <= WIDEST_NAME).max().unwrap_or(0);
        for (name, text) in &case.exchange {
            self.write_exchange(out, name, text, widest)?;
        }
        entries.iter().try_for_each(|it| self.write_entry(out, it, widest))
    }

    fn marked(&self, meaning: Option<Meaning>, text: &str) -> String {
        meaning.map_or_else(|| text.to_owned(), |it| self.style.meant(it, text))
    }

    /// What was asked or answered, in one line unless all of it is wanted.
    fn write_exchange(&self, out: &mut dyn Write, name: &str, text: &str, widest: usize) -> io::Result<()> {
        let name = one_line(name, WIDEST_NAME);
        let room = self.width.unwrap_or(WIDTH).saturating_sub(INDENT + widest + 2).max(20);
        let paragraphs = if self.is_full { vec![shortened(text)] } else { vec![one_line(text, room)] };
        self.write_entry(out, &Entry { mark: " ", meaning: None, name, paragraphs }, widest)
    }

    /// A name, and beside it the lines that belong to it.
    fn write_entry(&self, out: &mut dyn Write, entry: &Entry, widest: usize) -> io::Result<()> {
        let left = INDENT + widest + 2;
        let width = self.width.map(|it| it.saturating_sub(left));
        let mut lines = entry.paragraphs.iter().flat_map(|it| wrapped(it, width)).peekable();
        let mark = self.marked(entry.meaning, entry.mark);
        let padding = widest.saturating_sub(entry.name.width());
        let is_beside = entry.name.width() <= widest;
        match lines.next_if(|_| is_beside) {
            Some(line) => writeln!(out, "  {mark} {}{}  {line}", entry.name, " ".repeat(padding))?,
            None => writeln!(out, "  {mark} {}", entry.name)?,
        }
        lines.try_for_each(|line| writeln!(out, "{}{line}", " ".repeat(left)))
    }

    /// What there is to say about a task, and about each output of its evaluator.
    fn task(&self, total: &TaskTotal, task: &TaskReport) -> Vec<Entry> {
        let is_wrong = match task.verdict {
            TaskVerdict::Failed => total.is_counted(),
            TaskVerdict::Error | TaskVerdict::NotRun => true,
            TaskVerdict::Passed | TaskVerdict::Measured | TaskVerdict::Skipped => false,
        };
        let mut entries = Vec::new();
        if is_wrong || self.every_task {
            let gate = uncounted(total.gate);
            let (mark, meaning) = mark(task.verdict);
            let name = format!("{}{gate}", cut(&total.id, ROOM_FOR_NAMES));
            entries.push(Entry { mark, meaning, name, paragraphs: self.paragraphs(task) });
        }
        let is_shown = |it: &&OutputReport| self.every_task || it.verdict() == TaskVerdict::Error;
        entries.extend(task.outputs.iter().filter(is_shown).map(output));
        entries
    }

    /// How a task ended and why: what was expected and found, and the words of the judge or evaluator.
    fn paragraphs(&self, task: &TaskReport) -> Vec<String> {
        let score = task.score.map_or_else(String::new, |it| format!(" (score {})", words::score(it)));
        let mut paragraphs = vec![format!("{}{}", ending(task), score)];
        if self.is_full && task.verdict == TaskVerdict::Failed {
            paragraphs.extend(whole("expected", task.expected.as_ref()));
            paragraphs.extend(whole("found", task.actual.as_ref()));
        }
        paragraphs.extend(task.explanation.as_deref().map(reason));
        paragraphs
    }
}

/// Why a case without tasks could not be judged or was not run.
fn fault(case: &CaseReport) -> Option<Entry> {
    let message = Some(case.message.trim_end()).filter(|it| !it.is_empty())?;
    let mark = if case.verdict == CaseVerdict::NotRun { "–" } else { "!" };
    let meaning = Some(Meaning::Unknown);
    Some(Entry { mark, meaning, name: "case".to_owned(), paragraphs: vec![shortened(message)] })
}

/// How a task ended, in words.
fn ending(task: &TaskReport) -> String {
    let verdict = task.verdict.name().replace('_', " ");
    let value = |it: &Value| words::value(it, ROOM_FOR_VALUES);
    let found = task.actual.as_ref().map(value);
    let message = Some(task.message.trim_end()).filter(|it| !it.is_empty()).map(shortened);
    match task.verdict {
        TaskVerdict::Passed => found.map_or_else(|| verdict.clone(), |it| format!("{verdict}: found {it}")),
        TaskVerdict::Measured => {
            let said = task.label.as_deref().map(|it| cut(it, ROOM_FOR_VALUES)).or(found);
            said.map_or_else(|| verdict.clone(), |it| format!("{verdict}: {it}"))
        }
        TaskVerdict::Failed if message.is_none() => {
            let expected = task.expected.as_ref().map(value).map(|it| format!("expected {it}"));
            let found = found.map(|it| format!("found {it}"));
            let said: Vec<String> = expected.into_iter().chain(found).collect();
            if said.is_empty() { verdict } else { format!("{verdict}: {}", said.join(", ")) }
        }
        _ => message.map_or_else(|| verdict.clone(), |it| format!("{verdict}: {it}")),
    }
}

/// A value that a message has only the beginning of.
fn whole(name: &str, value: Option<&Value>) -> Option<String> {
    let text = value?.as_str().map_or_else(|| value.map(ToString::to_string).unwrap_or_default(), str::to_owned);
    (text.chars().nth(ROOM_FOR_VALUES).is_some()).then(|| format!("{name}: {}", shortened(&text)))
}

fn reason(explanation: &str) -> String {
    format!("reason: {}", shortened(explanation))
}

/// One output of an evaluator that has several.
fn output(output: &OutputReport) -> Entry {
    let (mark, meaning) = mark(output.verdict());
    let mut paragraphs = Vec::new();
    if output.verdict() == TaskVerdict::Error {
        paragraphs.push(format!("error: {}", shortened(&output.message)));
    } else {
        let score = output.score.map(|it| format!("score {}", words::score(it)));
        let label = output.label.as_deref().map(|it| cut(it, ROOM_FOR_VALUES));
        let said: Vec<String> = label.into_iter().chain(score).collect();
        paragraphs.push(if said.is_empty() { "measured".to_owned() } else { format!("measured: {}", said.join(", ")) });
    }
    paragraphs.extend(output.explanation.as_deref().map(reason));
    Entry { mark, meaning, name: cut(&output.name, ROOM_FOR_NAMES), paragraphs }
}

/// A text, or the beginning of a long one and how much is left.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(ROOM_FOR_TEXTS) {
        Some((at, _)) => {
            let more = words::counted(text[at..].chars().count() as u64, "more character");
            format!("{}… and {more}; `--json` has all of it", &text[..at])
        }
        None => text.to_owned(),
    }
}

fn mark(verdict: TaskVerdict) -> (&'static str, Option<Meaning>) {
    match verdict {
        TaskVerdict::Passed => ("✓", Some(Meaning::Good)),
        TaskVerdict::Failed => ("✗", Some(Meaning::Bad)),
        TaskVerdict::Error => ("!", Some(Meaning::Unknown)),
        TaskVerdict::NotRun => ("–", Some(Meaning::Unknown)),
        TaskVerdict::Measured => ("·", None),
        TaskVerdict::Skipped => ("–", None),
    }
}

fn case_meaning(verdict: CaseVerdict) -> Option<Meaning> {
    match verdict {
        CaseVerdict::Passed => Some(Meaning::Good),
        CaseVerdict::Failed => Some(Meaning::Bad),
        CaseVerdict::Error | CaseVerdict::NotRun => Some(Meaning::Unknown),
        CaseVerdict::Measured | CaseVerdict::NotJudged => None,
    }
}
