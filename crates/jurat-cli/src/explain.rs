//! `jurat explain`: why a case, or one of its tasks, ended as it did.

use std::io::{self, BufWriter, Write};

use clap::Args;
use jurat::Run;
use jurat::view::{Detailed, RunView};
use jurat::view::{StoredCase, Variant};
use jurat_core::report::explanation::Explanation;
use jurat_core::report::transcript::Transcript;
use jurat_report::explanation::{
    write_brief, write_json, write_run, write_run_json, write_text, write_transcript, write_transcript_json,
};

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption, style};
use crate::progress::window;
use crate::rendered_run::note_missing_rows;
use crate::run_name::{LATEST, run_named};
use crate::variant::{VariantOptions, known};

/// Explains why a case, or one of its tasks, ended as it did
///
/// Without a task, prints one line for each task: its verdict and the reason. With a task, prints everything that its verdict is based on: what was
/// compared, what it could read and what it could not, the gates above it, every request and every reply.
#[derive(Args)]
pub(crate) struct Explain {
    /// The case: its id, the beginning of it, or `FILE:ROW`
    case: String,
    /// The task [default: all tasks]
    task: Option<String>,
    /// The run: a file, the beginning of its name, or `latest`
    #[arg(long, default_value = LATEST)]
    run: String,
    #[command(flatten)]
    variant: VariantOptions,
    /// Only this repetition; the first is 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Variants")]
    replicate: Option<u32>,
    #[command(flatten)]
    format: FormatOption,
}

impl Explain {
    pub(crate) fn run(&self) -> Exit {
        exit(self.explain())
    }

    fn explain(&self) -> Result<Exit, Failure> {
        let run = run_named(&self.run)?;
        let view = run.view();
        let cases = self.narrowed(view, view.known_cases(&self.case)?)?;
        let mut out = BufWriter::new(io::stdout().lock());
        match (&self.task, self.format.get()) {
            (None, Format::Text) => self.write_cases(&mut out, &run, &cases)?,
            (_, format) => {
                let explanations = self.explanations(view, &cases)?;
                // Without a task, the transcript comes once, before the results of the tasks.
                let transcripts = if self.task.is_none() { transcripts(view, &cases)? } else { Vec::new() };
                for transcript in &transcripts {
                    write_transcript_json(&mut out, transcript)?;
                }
                for case in cases.iter().filter(|_| self.task.is_none()) {
                    if let Some(evidence) = view.agent_run(case)? {
                        let head = view.head();
                        write_run_json(&mut out, &head.suite, &head.id, &case.id, &evidence)?;
                    }
                }
                for (ix, explanation) in explanations.iter().enumerate() {
                    match format {
                        Format::Json => write_json(&mut out, explanation)?,
                        Format::Text => {
                            out.write_all(if ix > 0 { b"\n\n" } else { b"" })?;
                            write_text(&mut out, explanation, style(&io::stdout()), window())?;
                        }
                    }
                }
            }
        }
        out.flush()?;
        note_missing_rows(view)?;
        Ok(Exit::Good)
    }

    /// The task of each case, or all tasks of each.
    fn explanations(&self, view: &RunView, cases: &[StoredCase]) -> Result<Vec<Explanation>, Failure> {
        let tasks = match &self.task {
            Some(task) => view.tasks_named(task)?,
            None => view.plan().task_ixs().collect(),
        };
        let mut explanations = Vec::new();
        for case in cases {
            for task in &tasks {
                explanations.extend(view.explain(case, *task)?);
            }
            if self.task.is_some()
                && let Some(explanation) = explanations.last_mut()
                && explanation.transcript.is_none()
            {
                explanation.transcript = view.transcript(case)?;
            }
        }
        match &self.task {
            Some(task) if explanations.is_empty() => Err(Failure::Reason(format!(
                "the task `{task}` is not for the case `{}`: its `on` leaves it out",
                self.case
            ))),
            _ => Ok(explanations),
        }
    }

    fn write_cases(&self, out: &mut dyn Write, run: &Run, cases: &[StoredCase]) -> Result<(), Failure> {
        let (view, report, width) = (run.view(), run.report(), window());
        for case in cases {
            write_brief(out, report, &view.case_report(case, Detailed::Tasks)?, style(&io::stdout()), width)?;
            if let Some(transcript) = view.transcript(case)? {
                write_transcript(out, &transcript, style(&io::stdout()), width)?;
            }
            if let Some(run) = view.agent_run(case)? {
                write_run(out, &run, style(&io::stdout()), width)?;
            }
            writeln!(out)?;
        }
        writeln!(out, "`jurat explain {} TASK` shows what a verdict rests on", jurat_report::visible_line(&self.case))?;
        Ok(())
    }

    /// The cases with the prompt, the subject and the number that were asked for.
    fn narrowed(&self, view: &RunView, cases: Vec<StoredCase>) -> Result<Vec<StoredCase>, Failure> {
        let replicate = self.replicate.map(|it| it.to_string());
        let wanted = [
            ("prompt", self.variant.prompt.as_deref(), (|it| it.prompt.clone()) as fn(&Variant) -> String),
            ("subject", self.variant.subject.as_deref(), |it| it.subject.clone()),
            ("repetition", replicate.as_deref(), |it| (it.replicate + 1).to_string()),
        ];
        let mut left = cases;
        for (what, wanted, name) in wanted {
            let Some(wanted) = wanted else { continue };
            let name_of = |case: &StoredCase| view.variant(case.case_ix).map(name).unwrap_or_default();
            let names: Vec<String> = left.iter().map(name_of).collect();
            left.retain(|it| name_of(it) == wanted);
            if left.is_empty() {
                let known = known(what, names.iter().map(String::as_str));
                return Err(Failure::Reason(format!("`{}` has no {what} `{wanted}`: {known}", self.case)));
            }
        }
        Ok(left)
    }
}

/// What was said in those of the cases that are scenarios.
fn transcripts(view: &RunView, cases: &[StoredCase]) -> Result<Vec<Transcript>, Failure> {
    let mut transcripts = Vec::new();
    for case in cases {
        transcripts.extend(view.transcript(case)?);
    }
    Ok(transcripts)
}
