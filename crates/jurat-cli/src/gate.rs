//! `jurat gate`: whether a run may pass, by a policy.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jurat::contrast::SideName;
use jurat::gate::{GateOptions, GateReport, GateVerdict, PolicySource, gate, rehearse};
use jurat_report::gate::{write_json, write_junit, write_markdown, write_rehearsal, write_text};

use crate::exit::Exit;
use crate::failure::{Failure, Stopped, exit_unless_nothing};
use crate::format::style;
use crate::progress::window;
use crate::run_name::LATEST;

/// Decides whether a run may pass: pass, fail, or not enough data to say
///
/// The conditions are those under `gates` of the suite, or of a policy file. Exit codes: 0 pass, 1 fail, 2 the policy or the command is wrong, 5 nothing
/// to compare, 6 undecided.
#[derive(Args)]
pub(crate) struct Gate {
    /// The run: a file, the beginning of its name, or `latest`
    #[arg(default_value = LATEST)]
    new: String,
    /// The run that it is compared with [default: `base` of the policy]
    #[arg(long, value_name = "RUN")]
    base: Option<String>,
    /// A YAML file with the conditions [default: `gates` of the suite]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A calibration of a judge, for conditions on judges and corrected pass rates; may be repeated [default: those of the project]
    #[arg(long, value_name = "FILE")]
    calibration: Vec<PathBuf>,
    /// What an undecided gate ends with
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Undecided::Own)]
    undecided: Undecided,
    /// Instead, split the repetitions of the run in halves and say how often the gate fails with no change at all
    #[arg(long, conflicts_with_all = ["base", "summary"])]
    rehearse: bool,
    /// Also append the report as Markdown to the file that `GITHUB_STEP_SUMMARY` names
    #[arg(long)]
    summary: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = GateFormat::Text)]
    format: GateFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Undecided {
    /// Exit code 6
    Own,
    /// Exit code 0
    Pass,
    /// Exit code 1
    Fail,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum GateFormat {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
    /// Markdown for pull requests
    Markdown,
    /// JUnit XML for continuous integration
    Junit,
}

impl Gate {
    pub(crate) fn run(&self) -> Exit {
        exit_unless_nothing(self.decided())
    }

    fn decided(&self) -> Result<Exit, Stopped> {
        let options = GateOptions {
            base: self.base.as_ref().map(SideName::from),
            policy: self.policy.clone().map(PolicySource::File),
            calibrations: self.calibration.clone(),
        };
        if self.rehearse {
            let rehearsal = rehearse(".", &self.new, &options)?;
            write_rehearsal(&mut io::stdout().lock(), &rehearsal)?;
            return Ok(if rehearsal.is_too_tight() { Exit::Failed } else { Exit::Good });
        }
        let report = gate(".", &self.new, &options)?;
        let exit = self.exit(report.verdict);
        match &self.output {
            None => self.write(&mut BufWriter::new(io::stdout().lock()), &report, exit)?,
            Some(path) => {
                let unwritable = |error: io::Error| format!("`{}` cannot be written: {error}", path.display());
                let mut file = BufWriter::new(std::fs::File::create(path).map_err(unwritable)?);
                self.write(&mut file, &report, exit)?;
            }
        }
        if self.summary {
            append_summary(&report)?;
        }
        Ok(exit)
    }

    fn exit(&self, verdict: GateVerdict) -> Exit {
        match (verdict, self.undecided) {
            (GateVerdict::Undecided, Undecided::Pass) => Exit::Good,
            (GateVerdict::Undecided, Undecided::Fail) => Exit::Failed,
            (verdict, _) => Exit::of_gate(verdict),
        }
    }

    fn write(&self, out: &mut dyn Write, report: &GateReport, exit: Exit) -> Result<(), Failure> {
        match if self.json { GateFormat::Json } else { self.format } {
            GateFormat::Text => write_text(out, report, style(&io::stdout()), window())?,
            GateFormat::Json => write_json(out, report, exit.code())?,
            GateFormat::Markdown => write_markdown(out, report)?,
            GateFormat::Junit => write_junit(out, report, self.undecided == Undecided::Fail)?,
        }
        out.flush()?;
        Ok(())
    }
}

/// Appends a report to the summary of a step of GitHub Actions.
fn append_summary(report: &GateReport) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") else {
        return Err(Failure::Reason(
            "`--summary` needs the variable `GITHUB_STEP_SUMMARY`, which GitHub Actions sets".to_owned(),
        ));
    };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    let mut file = file.map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
    write_markdown(&mut file, report)?;
    Ok(())
}
