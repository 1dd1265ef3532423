//! How a run ended: whether it passed and by which rule, what it spent, and what to do next.

use std::io::{self, Write};
use std::time::Duration;

use jurat_core::report::{Observed, RunReport, Spent};
use jurat_core::stopping::StoppedEarly;
use jurat_core::verdict::{Conclusion, StopReason};

use crate::Style;
use crate::case_writer::Scope;
use crate::corrected;
use crate::style::Meaning;
use crate::visible::visible_line;
use crate::words::{self, counted, grouped};
use crate::wrap::wrapped;

/// Where the end of a run is written.
pub(super) struct Closing<'c> {
    pub(super) run: &'c RunReport,
    pub(super) scope: Scope,
    pub(super) style: Style,
    pub(super) width: Option<usize>,
    /// The command that says more, when there is something to say.
    pub(super) next: Option<String>,
}

/// How much of a name is shown.
const ROOM: usize = 60;

impl Closing<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Closing { run, scope, .. } = self;
        self.write_verdict(out)?;
        if let Some(line) = words::unconcluded(run) {
            self.line(out, &line)?;
        }
        if scope.has_observed() {
            self.lines(out, corrected::sentences(run))?;
        }
        self.lines(out, spent(run, *scope))?;
        if !scope.has_observed() {
            return Ok(());
        }
        self.lines(out, notes(&run.observed))?;
        self.lines(out, self.next_step().map(|it| format!("next: {it}")))?;
        let file = Some(&run.observed.file).filter(|it| !it.is_empty());
        // A path that is broken cannot be copied.
        file.map_or(Ok(()), |it| writeln!(out, "saved in {}", visible_line(it)))
    }

    /// Whether it passed and by which rule, the other thresholds that were missed, what to know beside that, then the totals over cases and over tasks.
    fn write_verdict(&self, out: &mut dyn Write) -> io::Result<()> {
        let decision = &self.run.decision;
        let lines = wrapped(&decision.sentence, self.width).join("\n");
        let end = lines.find(':').unwrap_or(lines.len());
        if !lines.is_empty() {
            let word = self.style.meant(meaning(decision.conclusion), &lines[..end]);
            writeln!(out, "{word}{}", &lines[end..])?;
        }
        let missed = decision.missed().filter(|it| !decision.sentence.contains(it));
        self.lines(out, missed.map(|it| format!("threshold missed: {it}")))?;
        self.lines(out, decision.notes.iter().map(|it| format!("note: {it}")))?;
        self.lines(out, self.run.stopped_early.as_ref().map(StoppedEarly::sentence))?;
        self.line(out, &totals(self.run))
    }

    fn next_step(&self) -> Option<String> {
        match self.run.stopped {
            Some(StopReason::Interrupted) => Some("the same command resumes this run".to_owned()),
            Some(StopReason::Deadline) => Some("the same command resumes this run".to_owned()),
            Some(StopReason::EndpointFault) => Some(
                "the same command resumes this run once the cause is removed; `--keep-going` does not stop".to_owned(),
            ),
            Some(StopReason::Decided) => {
                self.next.clone().or_else(|| Some("`--resume-decided` continues this run".to_owned()))
            }
            Some(StopReason::Budget) => {
                Some("run it again with a larger budget; responses that are recorded are reused".to_owned())
            }
            _ => self.next.clone(),
        }
    }

    fn lines(&self, out: &mut dyn Write, texts: impl IntoIterator<Item = String>) -> io::Result<()> {
        texts.into_iter().try_for_each(|it| self.line(out, &it))
    }

    fn line(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        wrapped(text, self.width).iter().try_for_each(|it| writeln!(out, "{it}"))
    }
}

/// What the end of a run means.
fn meaning(conclusion: Conclusion) -> Meaning {
    match conclusion {
        Conclusion::Passed => Meaning::Good,
        Conclusion::Failed => Meaning::Bad,
        Conclusion::Undecided | Conclusion::Limited | Conclusion::Nothing | Conclusion::Interrupted => Meaning::Unknown,
    }
}

/// The totals over cases and over tasks, named as such.
pub(crate) fn totals(run: &RunReport) -> String {
    let ended = run.cases.each().into_iter().filter(|(_, n)| *n > 0);
    let ended: Vec<String> =
        ended.map(|(verdict, n)| format!("{} {}", grouped(n), verdict.name().replace('_', " "))).collect();
    let cases = counted(run.cases.total(), "case");
    let cases = if ended.is_empty() { cases } else { format!("{cases}: {}", ended.join(", ")) };
    let judged = run.counts.passed + run.counts.failed;
    match run.counts.pass_rate() {
        Some(rate) => {
            let rate = words::rate(Some(rate));
            format!("{cases}; {} judged: {} passed ({rate})", counted(judged, "task"), grouped(run.counts.passed))
        }
        None => cases,
    }
}

/// Money, tokens, requests and time, as far as there are any. What a replay reproduces is what responses cost when they were given.
fn spent(run: &RunReport, scope: Scope) -> Option<String> {
    let observed = &run.observed;
    if let Some(spent) = observed.spent.filter(|_| scope.has_observed()) {
        let parts: Vec<String> = [now(&spent, observed), reused(observed)].into_iter().flatten().collect();
        return (!parts.is_empty()).then(|| parts.join("; "));
    }
    let mut parts = Vec::new();
    parts.extend(words::cost(run.cost_usd, run.n_unpriced));
    if run.usage.total() > 0 {
        parts.push(words::tokens(&run.usage));
    }
    let responses = (!parts.is_empty()).then(|| format!("responses: {}", parts.join(", ")));
    let took = took(observed).filter(|_| scope.has_observed()).map(|it| format!("took {it}"));
    let parts: Vec<String> = responses.into_iter().chain(took).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn took(observed: &Observed) -> Option<String> {
    (observed.wall > Duration::ZERO).then(|| words::duration(observed.wall))
}

/// What this run itself spent.
fn now(spent: &Spent, observed: &Observed) -> Option<String> {
    let mut parts = Vec::new();
    if observed.n_requests + spent.n_responses > 0 {
        parts.push(words::cost(spent.cost_usd, spent.n_unpriced).unwrap_or_else(|| "nothing".to_owned()));
        let mut requests = counted(observed.n_requests, "request");
        if observed.n_failed_requests > 0 {
            requests += &format!(" ({} failed)", grouped(observed.n_failed_requests));
        }
        if observed.n_requests > 0 {
            parts.push(format!("for {requests}"));
        }
        if spent.usage.total() > 0 {
            parts.push(format!("with {}", words::tokens(&spent.usage)));
        }
    }
    match (parts.is_empty(), took(observed)) {
        // What was spent is what all processes of the run spent; how long those took that were killed is not known.
        (false, Some(took)) if observed.resumed => {
            Some(format!("spent {}; the last of its processes took {took}", parts.join(" ")))
        }
        (false, Some(took)) => Some(format!("spent {}, in {took}", parts.join(" "))),
        (false, None) => Some(format!("spent {}", parts.join(" "))),
        (true, took) => took.map(|it| format!("took {it}")),
    }
}

fn reused(observed: &Observed) -> Option<String> {
    let mut parts = Vec::new();
    if observed.n_reused > 0 {
        let mut part = format!("{} of {} reused", grouped(observed.n_reused), counted(observed.n_answers, "response"));
        if let Some(oldest) = observed.oldest_reused_ms {
            let age = Duration::from_millis(observed.started_at_ms.saturating_sub(oldest));
            part += &format!(", the oldest {} old", words::span(age));
        }
        if let Some(cost) = observed.reused_cost_usd.filter(|it| *it > 0.0) {
            part += &format!(", which cost {} then", words::money(cost));
        }
        parts.push(part);
    }
    if observed.n_shared > 0 {
        let of = if observed.n_reused > 0 {
            String::new()
        } else {
            format!(" of {}", counted(observed.n_answers, "response"))
        };
        parts.push(format!("{}{of} shared by equal requests", grouped(observed.n_shared)));
    }
    if observed.n_tool_calls > 0 {
        let mut part = counted(observed.n_tool_calls, "tool call");
        if observed.n_reused_tool_calls > 0 {
            part += &format!(", {} reused", grouped(observed.n_reused_tool_calls));
        }
        parts.push(part);
    }
    if !observed.served_by.is_empty() {
        let served_by: Vec<String> = observed.served_by.iter().map(|it| words::cut(it, ROOM)).collect();
        parts.push(format!("served by {}", served_by.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What a reader must know before trusting the numbers.
fn notes(observed: &Observed) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(observed.replay_of.as_ref().map(|it| format!("replay of {}", visible_line(it))));
    if observed.resumed {
        notes.push("resumed: an earlier process had run a part of the cases".to_owned());
    }
    if observed.unsafe_code {
        notes.push("note: code of evaluators was allowed to run without the sandbox (`--unsafe-code`)".to_owned());
    }
    notes.extend(observed.notes.iter().map(|it| format!("note: {}", visible_line(it))));
    notes
}
