//! `jurat run`: evaluates a suite and prints what came of it.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jurat_core::expression::Expression;
use jurat_core::plan::Plan;
use jurat_core::suite::{codes, parse_duration};
use jurat_engine::view::RunView;
use jurat_engine::{
    BudgetLimits, Definition, EffectLines, Examined, Functions, HostFunctions, How, LaunchError, Launched, Progress,
    Recording, RunOptions, Selection, Stop, World, launch,
};
use jurat_model::dotenv::Environment;
use jurat_model::{Proxies, TransportOptions};
use jurat_report::Scope;
use jurat_sandbox::Program;
use jurat_store::run::RunReader;
use jurat_store::{Disk, Project};

use crate::definition::{self, ProfileOptions, print_problems};
use crate::drawing::{Drawing, draw};
use crate::exit::Exit;
use crate::format::{Format, FormatOption};
use crate::{interrupt, progress, saved};

/// Runs a suite and prints the verdicts
///
/// Every answer is written down before it is looked at, so a run that is interrupted goes on where it was when the same
/// command is given again, and no answer is paid for twice. Models are `provider/model`: openai, openai-responses, anthropic,
/// gemini, ollama, or `script/FILE` (canned replies) and `exec/CMD` (a program).
#[derive(Args)]
pub(crate) struct Run {
    /// The suite
    #[arg(default_value = definition::DEFAULT)]
    file: PathBuf,
    #[command(flatten)]
    profiles: ProfileOptions,
    /// Print the result of every task of every case
    #[arg(long)]
    tasks: bool,
    /// Who plays a role, as `role=provider/model`; may be given several times
    #[arg(long = "model", value_name = "ROLE=MODEL", value_parser = role_and_model)]
    models: Vec<(String, String)>,
    /// Runs so many rows at most
    #[arg(long, value_name = "N", help_heading = "Which cases")]
    limit: Option<u64>,
    /// Runs the rows for which this CEL expression holds; it reads their members, `row`, `id` and `tags`
    #[arg(long, value_name = "CEL", help_heading = "Which cases")]
    filter: Option<String>,
    /// Runs the rows with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG", help_heading = "Which cases")]
    tags: Vec<String>,
    /// Asks each subject so often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Which cases")]
    repeat: u32,
    /// How many requests may be in flight at each endpoint: where adapting starts, and its ceiling [default: 16]
    #[arg(short = 'j', long = "concurrency", value_name = "N", help_heading = "Limits")]
    concurrency: Option<NonZeroUsize>,
    /// Spends so many dollars at most
    #[arg(long, value_name = "USD", value_parser = dollars, help_heading = "Limits")]
    budget_usd: Option<f64>,
    /// Spends so many tokens at most, read and written
    #[arg(long, value_name = "N", help_heading = "Limits")]
    budget_tokens: Option<u64>,
    /// Makes so many requests at most
    #[arg(long, value_name = "N", help_heading = "Limits")]
    budget_calls: Option<u64>,
    /// Stops after this time, such as `10m`
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// How long one request may take [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    request_timeout: Option<Duration>,
    /// Stops at the first case that fails or cannot be judged
    #[arg(long, help_heading = "Limits")]
    fail_fast: bool,
    /// Asks anew what earlier runs have asked
    #[arg(long, visible_alias = "no-cache", conflicts_with = "replay", help_heading = "Answers")]
    fresh: bool,
    /// Uses no answer that is older, such as `7d`
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["fresh", "replay"], help_heading = "Answers")]
    max_age: Option<Duration>,
    /// Takes all answers and faults from a run (a file, the beginning of its name, `latest`) or from a file of recorded effects; asks nobody
    #[arg(long, value_name = "RUN", help_heading = "Answers")]
    replay: Option<String>,
    /// Asks for answers in pieces, as providers stream them
    #[arg(long, help_heading = "Answers")]
    stream: bool,
    /// Writes the rows with the answers of the subject to a file of JSON lines, for other suites to judge
    #[arg(long, value_name = "FILE", help_heading = "What is kept")]
    save_records: Option<PathBuf>,
    /// Which rows are copied into the run
    #[arg(long, value_enum, default_value_t = Keep::Needed, help_heading = "What is kept")]
    keep: Keep,
    /// Waits for the disk after each answer, so that it survives a power failure, too
    #[arg(long, help_heading = "What is kept")]
    durable: bool,
    /// Runs the code of evaluators even where the system cannot keep it from files, network and other processes; the run says so
    #[arg(long, help_heading = "Code")]
    unsafe_code: bool,
    /// Runs agents on this machine itself, as you, with all of its files and its network, instead of behind walls; the run says so
    #[arg(long, help_heading = "Code")]
    unsafe_host: bool,
    /// Prints only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
    /// Shows no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Those that did not pass, and those that are in no file
    Needed,
    /// All of them
    All,
}

fn role_and_model(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, model)) if !role.is_empty() && model.contains('/') => Ok((role.to_owned(), model.to_owned())),
        _ => Err("write `role=provider/model`, for example `judge=script/replies.jsonl`".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let usd: f64 = text.trim_start_matches('$').parse().map_err(|_| format!("`{text}` is not a number"))?;
    if usd.is_finite() && usd >= 0.0 { Ok(usd) } else { Err(format!("`{text}` is not an amount of money")) }
}

impl Run {
    pub(crate) fn run(&self, worker: Option<Program>) -> Exit {
        let Some(mut definition) = definition::read(&self.file, &self.profiles) else { return Exit::Wrong };
        if self.replay.is_some() {
            // What code returned is recorded, so it need not be here.
            definition.problems.retain(|it| !it.is_missing_code());
        }
        // Whether a role has a model is decided with `--model`, when the run is prepared.
        definition.problems.retain(|it| it.code.name != codes::NO_MODEL.name);
        if print_problems(&definition.problems, &definition.sources).is_err() || definition.has_errors() {
            return Exit::Wrong;
        }
        self.evaluate(&definition, worker).unwrap_or_else(|message| {
            let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(&message));
            Exit::Wrong
        })
    }

    fn evaluate(&self, definition: &Examined, worker: Option<Program>) -> Result<Exit, String> {
        let Some(plan) = Plan::of_recorded(&definition.suite, &definition.samples) else { return Ok(Exit::Wrong) };
        if self.save_records.is_some() && plan.ask.is_none() {
            return Err("`--save-records` writes what subjects answered, and this suite has no `ask`".to_owned());
        }
        let project = Project::find_or_create(Path::new(".")).map_err(|error| error.to_string())?;
        if let Some(untrusted) = project.passed_over() {
            let said = format!("{untrusted}; runs are stored in `{}`", project.root().display());
            let _ = writeln!(io::stderr(), "note: {}", jurat_report::visible_line(&said));
        }
        let recording = self.replay.as_ref().map(|it| recording(it, &project)).transpose()?;
        let env = environment()?;
        let env = |name: &str| env.get(name);
        let mut how = self.how(recording.as_deref(), &env)?;
        if let Some(repeat) = definition.suite.repeat.filter(|_| self.repeat == 1) {
            how.options.repeat = repeat;
        }
        let (stop, progress) = (Arc::new(Stop::new()), Arc::new(Progress::default()));
        let watch = {
            let progress = Arc::clone(&progress);
            interrupt::Watch::start(&stop, move || {
                // The line that shows progress is drawn over.
                let clear = if io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
                let _ = writeln!(io::stderr(), "{clear}{}", interrupt::words(&progress));
            })
        };
        let shown = progress::Shown::start(&progress, !self.quiet && is_watched(self.format.get()));
        let mut stdin = io::stdin();
        let mut world = World {
            project: &project,
            files: &Disk,
            env: &env,
            functions: &Functions::new(),
            evaluators: &HostFunctions::new(),
            agents: &HostFunctions::new(),
            worker,
            stdin: &mut stdin,
            random: RandomState::new().build_hasher().finish(),
        };
        let runnable = Definition { suite: &definition.suite, sources: &definition.sources, plan: &plan };
        let launched = launch(runnable, &how, &mut world, &stop, &progress, &mut |begun| {
            if begun.is_resumed {
                let _ = writeln!(io::stderr(), "resuming the run that was interrupted");
            }
            if let Some(aside) = begun.set_aside {
                let aside = jurat_report::visible_line(&aside.display().to_string()).into_owned();
                let _ =
                    writeln!(io::stderr(), "the journal was damaged and is set aside as `{aside}`; a new one is made");
            }
        });
        drop(shown);
        watch.run_is_over();
        match launched {
            Ok(launched) => self.tell(&launched),
            Err(LaunchError::Unready(problems)) => {
                print_problems(&problems, &definition.sources).map_err(|error| error.to_string())?;
                Ok(Exit::Wrong)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn how<'h>(
        &self,
        replay: Option<&'h dyn Recording>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<How<'h>, String> {
        let filter = self.filter.as_deref().map(Expression::compile).transpose();
        let filter = filter.map_err(|error| format!("`--filter`: {error}"))?;
        let defaults = TransportOptions::default();
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(How {
            options: RunOptions {
                models: self.models.clone(),
                limit: self.limit,
                filter: self.filter.clone(),
                tags: self.tags.clone(),
                repeat: self.repeat,
                fresh: self.fresh,
                replay_of: self.replay.clone(),
                unsafe_code: self.unsafe_code,
                unsafe_host: self.unsafe_host,
            },
            selection: Selection { limit: self.limit, filter, tags: self.tags.clone() },
            threads: self.concurrency.map_or(cores, |it| it.min(cores)),
            deadline: self.timeout,
            fail_fast: self.fail_fast,
            keep_all: self.keep == Keep::All,
            durable: self.durable,
            budget: BudgetLimits { usd: self.budget_usd, tokens: self.budget_tokens, calls: self.budget_calls },
            max_age: self.max_age,
            transport: TransportOptions {
                concurrency: self.concurrency.map_or(defaults.concurrency, NonZeroUsize::get),
                request_timeout: self.request_timeout.unwrap_or(defaults.request_timeout),
                stream: self.stream,
                proxies: Proxies::from_environment(env),
                ..defaults
            },
            replay,
        })
    }

    /// Draws the run from its file and says how it ended.
    fn tell(&self, launched: &Launched) -> Result<Exit, String> {
        let view = RunView::open(&launched.ran.path).map_err(|error| error.to_string())?;
        if let Some(file) = &self.save_records {
            saved::write(&view, file)?;
        }
        let report = view.report().map_err(|error| error.to_string())?;
        let scope = if self.results_only { Scope::ResultsOnly } else { Scope::Everything };
        let drawing = Drawing { is_json: self.format.get() == Format::Json, tasks: self.tasks, scope, run: None };
        match draw(&view, &report, drawing) {
            Err(error) if !error.is_broken_pipe() => Err(error.to_string()),
            _ => Ok(Exit::of_run(report.decision.conclusion)),
        }
    }
}

/// Progress is shown to people; those who read JSON from a program do not look.
fn is_watched(format: Format) -> bool {
    io::stderr().is_terminal() || format == Format::Text
}

/// Variables of the process, and those of `.env` where we are.
fn environment() -> Result<Environment, String> {
    let file = match fs::read_to_string(".env") {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("`.env` cannot be read: {error}")),
    };
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Environment::new(variables, &file))
}

/// What a replay takes its outcomes from.
fn recording(name: &str, project: &Project) -> Result<Box<dyn Recording>, String> {
    let path = Path::new(name);
    if path.extension().is_some_and(|it| it == "jsonl") {
        let text = fs::read_to_string(path).map_err(|error| format!("`{name}` cannot be read: {error}"))?;
        let lines = EffectLines::parse(&text).map_err(|error| format!("`{name}`: {error}"))?;
        return Ok(Box::new(lines));
    }
    let path = project.run(name).map_err(|error| error.to_string())?;
    Ok(Box::new(RunReader::open(&path).map_err(|error| error.to_string())?))
}
