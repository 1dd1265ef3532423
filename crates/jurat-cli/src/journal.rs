//! `jurat journal`: what the journal of a project holds, removing answers from it, adding those of shards, and sending them to the journal of a team.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use jurat::{Added, Pushed, Removed};
use jurat_core::report::journal::JournalReport;
use jurat_format::duration::parse_duration;
use jurat_format::problem::listed_all;
use jurat_format::value::Val;
use jurat_report::counted;
use jurat_report::journal::{write_json, write_text};

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption, style};
use crate::progress::window;

/// Prints what the journal (the response cache) holds, removes responses from it, adds those of shards, and sends them to the journal of a team
///
/// The journal stores every response that was paid for, by the content of its request, so that no run pays for it again. Only this command removes
/// responses.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Journal {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Subcommand)]
enum What {
    Stats(Stats),
    Clean(Clean),
    Add(Add),
    Push(Push),
}

/// Prints the number of cached responses, by model and age
#[derive(Args)]
struct Stats {
    #[command(flatten)]
    format: FormatOption,
}

/// Removes cached responses
#[derive(Args)]
struct Clean {
    #[command(flatten)]
    which: Which,
    /// Confirm that all responses are to be removed
    #[arg(long, requires = "all")]
    yes: bool,
    #[command(flatten)]
    format: FormatOption,
}

/// Adds the responses of shards, so that other runs of this project do not pay for them again
///
/// Each shard of a plan (`jurat shards`) stores its responses in its own files, in `journal` of the directory of the plan. This command takes them into the journal of this project
/// (merges them): in any order, and any number of times. A file that a killed process left incomplete is read up to there.
#[derive(Args)]
#[command(visible_alias = "merge")]
struct Add {
    /// Directories of plans
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

/// Sends the responses of this project to the journal that the team shares
///
/// Runs send their responses themselves. This command sends what they could not, because the server was not reached, and what was there before the project had a shared journal. What the server has already is
/// not sent again.
#[derive(Args)]
struct Push {
    /// Address of the shared journal, without a password: `postgresql://USER@HOST/DATABASE` [default: `JURAT_SHARED_JOURNAL`]
    #[arg(value_name = "URL")]
    address: Option<String>,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Remove responses older than this (e.g. `30d`)
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    older_than: Option<Duration>,
    /// Remove responses of this model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Remove all responses; needs `--yes`, because runs will pay for them again
    #[arg(long)]
    all: bool,
}

impl Journal {
    pub(crate) fn run(&self) -> Exit {
        exit(match &self.what {
            None => stats(self.format.get()),
            Some(What::Stats(it)) => stats(it.format.get()),
            Some(What::Clean(it)) => it.clean(),
            Some(What::Add(it)) => it.add(),
            Some(What::Push(it)) => it.push(),
        })
    }
}

fn stats(format: Format) -> Result<Exit, Failure> {
    let report = match jurat::Journal::open_to_read(".")? {
        Some(journal) => journal.report()?,
        None => JournalReport::default(),
    };
    let mut out = io::stdout().lock();
    match format {
        Format::Json => write_json(&mut out, &report)?,
        Format::Text if report.file.is_empty() => {
            writeln!(out, "this project has no journal yet; it is made when a run asks a model")?;
        }
        Format::Text => {
            write_text(&mut out, &report, style(&io::stdout()), window())?;
        }
    }
    Ok(Exit::Good)
}

impl Add {
    fn add(&self) -> Result<Exit, Failure> {
        let Added { new, known, segments, damaged, .. } =
            jurat::Journal::open_or_create(".")?.add_shards(&self.directories)?;
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => {
                let counts = [
                    ("version", 1),
                    ("added", new),
                    ("known", known),
                    ("segments", segments),
                    ("damaged_segments", damaged),
                ];
                writeln!(
                    out,
                    "{}",
                    Val::Map(counts.map(|(key, n)| (key, Val::from(n))).into_iter().collect()).to_json()
                )?;
            }
            Format::Text => {
                let cut = match damaged {
                    0 => String::new(),
                    n => format!("; {n} incomplete"),
                };
                let files = counted(segments, "segment");
                writeln!(out, "{} added, {known} known, from {files}{cut}", counted(new, "answer"))?;
            }
        }
        Ok(Exit::Good)
    }
}

impl Push {
    fn push(&self) -> Result<Exit, Failure> {
        let Some(journal) = jurat::Journal::open(".")? else {
            return Err(Failure::Reason("this project has no journal: there is nothing to send".to_owned()));
        };
        let Pushed { new, known } = journal.push(self.address.as_deref())?;
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => {
                let counts = [("version", 1), ("sent", new), ("known", known)];
                let members = counts.map(|(key, n)| (key, Val::from(n))).into_iter().collect();
                writeln!(out, "{}", Val::Map(members).to_json())?;
            }
            Format::Text => writeln!(out, "{} sent, {known} known", counted(new, "response"))?,
        }
        Ok(Exit::Good)
    }
}

impl Clean {
    fn clean(&self) -> Result<Exit, Failure> {
        let Some(journal) = jurat::Journal::open(".")? else {
            return Err(Failure::Reason("this project has no journal: there is nothing to remove".to_owned()));
        };
        let before = journal.report()?;
        let Removed { responses, is_smaller } = self.remove(&journal, &before)?;
        let left = before.answers().saturating_sub(responses);
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => {
                let counts =
                    [("version", 1), ("removed", responses), ("left", left)].map(|(key, n)| (key, Val::from(n)));
                let members = counts.into_iter().chain([("is_smaller", Val::Bool(is_smaller))]);
                writeln!(out, "{}", Val::Map(members.collect()).to_json())?;
            }
            Format::Text => {
                writeln!(out, "{} removed, {} left", counted(responses, "answer"), counted(left, "answer"))?;
                if !is_smaller {
                    writeln!(
                        out,
                        "the file stays as large as it is while another process uses it; new answers go there"
                    )?;
                }
            }
        }
        Ok(Exit::Good)
    }

    /// Removes responses. A name that would find none by mistake is refused.
    fn remove(&self, journal: &jurat::Journal, before: &JournalReport) -> Result<Removed, Failure> {
        if let Some(age) = self.which.older_than {
            return Ok(journal.remove_older_than(age)?);
        }
        if let Some(model) = &self.which.model {
            let known: Vec<&str> = before.models.iter().map(|it| it.model.as_str()).collect();
            // The journal has models as their providers call them, and suites write `provider/model`.
            let own = model.split_once('/').map(|(_, it)| it);
            let meant = [Some(model.as_str()), own].into_iter().flatten().find(|it| known.contains(it));
            if let Some(meant) = meant {
                return Ok(journal.remove_model(meant)?);
            }
            return match known.as_slice() {
                [] => Err(Failure::Reason(format!("the journal has no answers of `{model}`: it is empty"))),
                known => {
                    let known = listed_all(known.iter().copied());
                    Err(Failure::Reason(format!("the journal has no answers of `{model}`; it has those of {known}")))
                }
            };
        }
        if self.yes || before.answers() == 0 {
            return Ok(journal.remove_all()?);
        }
        let all = counted(before.answers(), "answer");
        Err(Failure::Reason(format!(
            "this removes all of {all}, and runs will pay for them again; add `--yes` if you mean it"
        )))
    }
}
