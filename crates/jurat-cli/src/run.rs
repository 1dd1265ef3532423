//! `jurat run`: evaluates suites and prints their results.

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
use jurat_compare::expression::Expression;
use jurat_core::suite::RowSource;
use jurat_engine::view::RunView;
use jurat_engine::{
    BudgetLimits, Definition, EffectLines, Examined, Functions, HostFunctions, How, LaunchError, Launched, Progress,
    Recording, Rerun, RerunOf, Resources, RunOptions, Selection, Stop, World, launch,
};
use jurat_format::{codes, duration::parse_duration};
use jurat_model::{Proxies, TransportOptions};
use jurat_report::Scope;
use jurat_sandbox::Program;
use jurat_store::run::RunReader;
use jurat_store::{Disk, Project};

use crate::asking::{environment, print_notes, role_and_model};
use crate::count::{at_least_one, count, dollars, repetitions};
use crate::definition::{self, ProfileOptions, print_problems};
use crate::drawing::{Drawing, draw};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{Format, FormatOption};
use crate::results_file::{ColumnsOption, Results, ResultsFile};
use crate::several::{self, Ended};
use crate::watch::Watched;
use crate::{interrupt, progress, saved};

/// Runs suites and prints their results
///
/// Every response is stored before it is used: the same command resumes an interrupted run, and no response is paid for
/// twice. Models are `provider/model`: openai, openai-responses, anthropic, gemini, ollama, or `script/FILE` (canned replies) and `exec/CMD` (a
/// program).
#[derive(Args)]
pub(crate) struct Run {
    /// The suites; of several, the exit code is the worst
    #[arg(default_value = definition::DEFAULT, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    profiles: ProfileOptions,
    /// Print the result of every task of every case
    #[arg(long)]
    tasks: bool,
    /// Model of a role, as `role=provider/model`; may be repeated
    #[arg(long = "model", value_name = "ROLE=MODEL", value_parser = role_and_model)]
    models: Vec<(String, String)>,
    /// Run again whenever a file of the suite changes: definitions, prompts, code, data and scripts
    #[arg(long, conflicts_with = "replay")]
    watch: bool,
    /// Run at most N rows
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Which cases")]
    limit: Option<u64>,
    /// Run the rows for which this CEL expression is true; it may use their fields, `row`, `id` and `tags`
    #[arg(long, value_name = "CEL", help_heading = "Which cases")]
    filter: Option<String>,
    /// Run the rows with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG", help_heading = "Which cases")]
    tags: Vec<String>,
    /// Run only the cases with these verdicts in an earlier run; separate several by commas
    #[arg(
        long,
        value_enum,
        value_name = "VERDICT",
        value_delimiter = ',',
        conflicts_with = "replay",
        help_heading = "Which cases"
    )]
    rerun: Vec<Again>,
    /// The earlier run for `--rerun`: a file or the beginning of its name [default: the latest of this suite]
    #[arg(long, value_name = "RUN", requires = "rerun", help_heading = "Which cases")]
    from: Option<String>,
    /// Number of times to run each case
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = repetitions, allow_negative_numbers = true, help_heading = "Which cases")]
    repeat: u32,
    /// Maximum concurrent requests per endpoint; lowered automatically when the provider throttles [default: 16]
    #[arg(short = 'j', long = "concurrency", value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, help_heading = "Limits")]
    concurrency: Option<NonZeroUsize>,
    /// Spend at most this amount in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true, help_heading = "Limits")]
    budget_usd: Option<f64>,
    /// Use at most N tokens, input and output together
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Limits")]
    budget_tokens: Option<u64>,
    /// Make at most N requests
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Limits")]
    budget_calls: Option<u64>,
    /// Stop after this time (e.g. `10m`)
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// Timeout of one request [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    request_timeout: Option<Duration>,
    /// Stop at the first case that fails or ends with an error
    #[arg(long, help_heading = "Limits")]
    fail_fast: bool,
    /// Continue when an endpoint fails every request (wrong key, unknown model, unreachable host, exhausted quota) [default: stop after 5 in a row]
    #[arg(long, help_heading = "Limits")]
    keep_going: bool,
    /// Ignore cached responses of earlier runs
    #[arg(long, visible_alias = "no-cache", conflicts_with = "replay", help_heading = "Cache")]
    fresh: bool,
    /// Ignore cached responses older than this (e.g. `7d`)
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["fresh", "replay"], help_heading = "Cache")]
    max_age: Option<Duration>,
    /// Take all responses and errors from a run (a file, the beginning of its name, `latest`) or a file of recorded effects; makes no requests
    #[arg(long, value_name = "RUN", help_heading = "Cache")]
    replay: Option<String>,
    /// Request streamed responses
    #[arg(long, help_heading = "Cache")]
    stream: bool,
    /// Write the results to a file: .json, .jsonl, .csv, .parquet, .xml (JUnit) or .md; may be repeated
    #[arg(long = "output", short = 'o', value_name = "FILE", value_parser = ResultsFile::parse, help_heading = "Output")]
    outputs: Vec<ResultsFile>,
    #[command(flatten, next_help_heading = "Output")]
    columns: ColumnsOption,
    /// Write the rows with the subject's responses to a file of JSON lines, for other suites to judge
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save_records: Option<PathBuf>,
    /// Which rows to copy into the run file
    #[arg(long, value_enum, default_value_t = Keep::Needed, help_heading = "Output")]
    keep: Keep,
    /// Wait for the disk after each response, so that it survives a power failure
    #[arg(long, help_heading = "Output")]
    durable: bool,
    /// Print only what a replay reproduces byte for byte
    #[arg(long, help_heading = "Output")]
    results_only: bool,
    /// Show no progress
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
    /// Run the code of evaluators even where the system cannot isolate it from files, network and other processes; the run records it
    #[arg(long, help_heading = "Code")]
    unsafe_code: bool,
    /// Run agents without a sandbox: with your rights, all files and the network of this machine; the run records it
    #[arg(long, help_heading = "Code")]
    unsafe_host: bool,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Rows that did not pass, and rows that are in no file
    Needed,
    /// All rows
    All,
}

/// Which cases of an earlier run are run again.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Cases that failed
    Failed,
    /// Cases that ended with an error
    Error,
    /// Cases that were not run
    #[value(name = "not_run", alias = "not-run")]
    NotRun,
}

impl From<Again> for RerunOf {
    fn from(again: Again) -> RerunOf {
        match again {
            Again::Failed => RerunOf::Failed,
            Again::Error => RerunOf::Error,
            Again::NotRun => RerunOf::NotRun,
        }
    }
}

impl Run {
    pub(crate) fn run(&self, worker: Option<Program>) -> Exit {
        if let Err(message) = self.can_be() {
            say(&message);
            return Exit::Wrong;
        }
        loop {
            let (exit, watched) = self.run_all(worker.as_ref());
            if !self.watch || exit == Exit::Interrupted || watched.is_in_vain() {
                return exit;
            }
            let files = jurat_report::counted(watched.n_files() as u64, "file");
            let _ = writeln!(io::stderr(), "\nwatching {files}; press Ctrl-C to end");
            let changed: Vec<String> = watched.wait().iter().map(|it| it.display().to_string()).collect();
            let _ = writeln!(io::stderr(), "changed: {}\n", jurat_report::visible_line(&changed.join(", ")));
        }
    }

    /// What cannot be written as it was asked for.
    fn can_be(&self) -> Result<(), String> {
        if self.files.len() > 1
            && let Some(file) = self.written().find(|it| !several::is_for_each(it))
        {
            return Err(format!(
                "every suite would write `{}`; put `{{suite}}` into its name, for example `{{suite}}.json`",
                file.display()
            ));
        }
        if self.columns.is_given() && !self.outputs.iter().any(|it| it.to.has_columns()) {
            return Err(
                "`--columns` chooses columns of a table; add `-o FILE` with a name that ends in `.csv`, `.jsonl` or \
                        `.parquet`"
                    .to_owned(),
            );
        }
        // What is written once for one suite needs no name.
        if self.files.len() * self.written().count() < 2 {
            return Ok(());
        }
        let names: Vec<String> = self.files.iter().filter_map(|it| definition::name(it, &self.profiles)).collect();
        let paths = names.iter().flat_map(|name| self.written().map(|it| several::own_file(it, name)));
        match several::twice(paths) {
            Some(file) => Err(format!(
                "`{}` would be written twice; give each suite a name of its own (`suite:`), and each `-o` another file",
                file.display()
            )),
            None => Ok(()),
        }
    }

    /// The files that each suite writes, as they were given.
    fn written(&self) -> impl Iterator<Item = &PathBuf> {
        self.outputs.iter().map(|it| &it.path).chain(&self.save_records)
    }

    /// Runs every suite once.
    fn run_all(&self, worker: Option<&Program>) -> (Exit, Watched) {
        let mut watched = Watched::these(self.files.iter().map(PathBuf::as_path));
        let mut ended: Vec<Ended> = Vec::new();
        for file in &self.files {
            ended.push(self.run_suite(file, worker, &mut watched));
            if ended.last().is_some_and(|it| it.exit == Exit::Interrupted) {
                break;
            }
        }
        if ended.len() > 1 {
            // Where nothing reads the output any more, nothing is lost.
            let _ = several::write_lines(&ended);
        }
        (Exit::worst(ended.iter().map(|it| it.exit)), watched)
    }

    fn run_suite(&self, file: &Path, worker: Option<&Program>, watched: &mut Watched) -> Ended {
        let wrong = || Ended { file: file.to_owned(), exit: Exit::Wrong, sentence: None };
        let Some(mut definition) = definition::read(file, &self.profiles) else { return wrong() };
        watched.merge(Watched::of(&definition, &self.models));
        if self.replay.is_some() {
            // What code returned is recorded, so it need not be here.
            definition.problems.retain(|it| !codes::is_missing_code(it));
        }
        // Whether a role has a model is decided with `--model`, when the run is prepared.
        definition.problems.retain(|it| it.code.name != codes::NO_MODEL.name);
        if print_problems(&definition.problems, &definition.sources).is_err() || definition.has_errors() {
            return wrong();
        }
        let reads_input = definition.suite.records.iter().any(|it| it.from == RowSource::StandardInput);
        if self.watch && reads_input {
            say(
                "`--watch` runs a suite several times, and standard input can be read only once; put the rows into a file",
            );
            watched.give_up();
            return wrong();
        }
        match self.evaluate(file, &definition, worker.cloned()) {
            Ok(Some((exit, sentence))) => Ended { file: file.to_owned(), exit, sentence: Some(sentence) },
            Ok(None) => wrong(),
            Err(message) => {
                say(&message);
                wrong()
            }
        }
    }

    /// Runs a definition. Nothing comes back where problems were printed instead.
    fn evaluate(
        &self,
        file: &Path,
        definition: &Examined,
        worker: Option<Program>,
    ) -> Result<Option<(Exit, String)>, String> {
        let Some(plan) = &definition.plan else { return Ok(None) };
        if self.save_records.is_some() && plan.ask.is_none() {
            return Err("`--save-records` writes what subjects answered, and this suite has no `ask`".to_owned());
        }
        let project = Project::find_or_create(Path::new(".")).map_err(|error| error.to_string())?;
        if let Some(untrusted) = project.passed_over() {
            let said = format!("{untrusted}; runs are stored in `{}`", project.root().display());
            let _ = writeln!(io::stderr(), "note: {}", jurat_report::visible_line(&said));
        }
        let recording = self.replay.as_ref().map(|it| recording(it, &project)).transpose()?;
        let env = environment(file)?;
        print_notes(&env);
        let (env, env_files) = (|name: &str| env.get(name), env.looked_for());
        let rerun = self.rerun(definition, &project)?;
        if let Some(rerun) = rerun.as_ref().filter(|it| it.is_empty()) {
            let sentence = format!("nothing was judged: there is no case to run again ({})", rerun.words());
            say(&sentence);
            return Ok(Some((Exit::Nothing, sentence)));
        }
        let mut how = self.how(recording.as_deref(), rerun, &env)?;
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
        let resources = Resources {
            files: &Disk,
            env: &env,
            env_files: &env_files,
            functions: &Functions::new(),
            evaluators: &HostFunctions::new(),
            agents: &HostFunctions::new(),
            worker,
        };
        let mut world = World {
            project: &project,
            resources,
            stdin: &mut stdin,
            random: RandomState::new().build_hasher().finish(),
        };
        let runnable = Definition { suite: &definition.suite, sources: &definition.sources, plan };
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
            Ok(launched) => self.tell(&several::suite_name(&definition.suite, file), &launched).map(Some),
            Err(LaunchError::Unready(problems)) => {
                print_problems(&problems, &definition.sources).map_err(|error| error.to_string())?;
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The cases of an earlier run that alone are run.
    fn rerun(&self, definition: &Examined, project: &Project) -> Result<Option<Rerun>, String> {
        if self.rerun.is_empty() {
            return Ok(None);
        }
        let of: Vec<RerunOf> = self.rerun.iter().map(|it| (*it).into()).collect();
        let suite = definition.suite.name.as_ref().map_or("suite", |it| it.value.as_str());
        Rerun::find(project, suite, &of, self.from.as_deref()).map(Some).map_err(|error| error.to_string())
    }

    fn how<'h>(
        &self,
        replay: Option<&'h dyn Recording>,
        rerun: Option<Rerun>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<How<'h>, String> {
        let filter = self.filter.as_deref().map(Expression::compile_condition).transpose();
        let filter = filter.map_err(|error| format!("`--filter`: {error}"))?;
        let defaults = TransportOptions::default();
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(How {
            options: RunOptions {
                models: self.models.clone(),
                limit: self.limit,
                filter: self.filter.clone(),
                tags: self.tags.clone(),
                rerun: rerun.as_ref().map(Rerun::words),
                repeat: self.repeat,
                fresh: self.fresh,
                replay_of: self.replay.clone(),
                unsafe_code: self.unsafe_code,
                unsafe_host: self.unsafe_host,
            },
            selection: Selection { limit: self.limit, filter, tags: self.tags.clone(), rerun },
            threads: self.concurrency.map_or(cores, |it| it.min(cores)),
            deadline: self.timeout,
            fail_fast: self.fail_fast,
            keep_going: self.keep_going,
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

    /// Prints the run from its file, writes the files that were asked for, and says how it ended.
    fn tell(&self, suite: &str, launched: &Launched) -> Result<(Exit, String), String> {
        let view = RunView::open(&launched.ran.path).map_err(|error| error.to_string())?;
        if let Some(path) = &self.save_records {
            saved::write(&view, &several::own_file(path, suite))?;
        }
        let report = view.report().map_err(|error| error.to_string())?;
        let ended = (Exit::of_run(report.decision.conclusion), report.decision.sentence.clone());
        let scope = if self.results_only { Scope::ResultsOnly } else { Scope::Everything };
        let results = Results { view: &view, report: &report, only: None, scope, columns: &self.columns };
        for ResultsFile { path, to } in &self.outputs {
            match results.write_file(*to, &several::own_file(path, suite)) {
                Ok(()) | Err(Failure::NobodyReads) => {}
                Err(Failure::Reason(reason)) => return Err(reason),
            }
        }
        let is_json = self.format.get() == Format::Json;
        if report.cases.total() == 0 && report.is_complete() && !is_json {
            say(&format!("{}{}", report.decision.sentence, self.selection_words()));
            // A run without a case has nothing to show. If its file cannot be removed, it is in the list of runs.
            drop(view);
            let _ = fs::remove_file(&launched.ran.path);
            return Ok(ended);
        }
        let drawing = Drawing { is_json, tasks: self.tasks, scope, run: None };
        match draw(&view, &report, drawing) {
            Err(error) if !error.is_broken_pipe() => Err(error.to_string()),
            _ => Ok(ended),
        }
    }

    /// The options that select cases, as they were given.
    fn selection_words(&self) -> String {
        let tags = self.tags.iter().map(|it| format!("`--tag {it}`"));
        let filter = self.filter.iter().map(|it| format!("`--filter '{it}'`"));
        let limit = self.limit.iter().map(|it| format!("`--limit {it}`"));
        let given: Vec<String> = tags.chain(filter).chain(limit).collect();
        if given.is_empty() { String::new() } else { format!(" by {}", given.join(", ")) }
    }
}

/// Prints what stands in the way of a run.
fn say(message: &str) {
    let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(message));
}

/// Progress is shown to people; those who read JSON from a program do not look.
fn is_watched(format: Format) -> bool {
    io::stderr().is_terminal() || format == Format::Text
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
