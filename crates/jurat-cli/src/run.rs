//! `jurat run`: evaluates suites and prints their results.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use jurat::contrast::SideName;
use jurat::gate::GateOptions;
use jurat::shards::{Allowance, BadShare, Share};
use jurat::{Checked, RunOptions, StopReason};
use jurat_report::gate::write_text as write_gate;

use crate::definition::{self, ProfileOptions};
use crate::engine::{self, Engine, Place};
use crate::exit::Exit;
use crate::failure::print_problems;
use crate::failure::{Failure, exit, print_reason};
use crate::format::{Format, FormatOption, style};
use crate::interrupt::Listener;
use crate::local;
use crate::progress::{self, ProgressFormat};
use crate::rendered_run;
use crate::results_file::{ColumnsOption, ResultsFile, endings, has_columns};
use crate::run_arguments::{OfRun, RunArguments};
use crate::several::{self, Ended};
use crate::shard::{self, ShardName};
use crate::watch::Watched;

/// Runs suites and prints their results
#[derive(Args)]
#[command(long_about = long_about())]
pub(crate) struct Run {
    /// The suites; of several, the exit code is the worst
    #[arg(default_value = definition::DEFAULT, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    profiles: ProfileOptions,
    /// Cut the run into shards, run them on several processes of this machine (`local:N`) or as tasks of a cluster (`ray`, `spark`, `ray://HOST:PORT`, `spark://HOST:PORT`; from the Python package), and
    /// merge them
    #[arg(long, value_name = "ENGINE", value_parser = Engine::parse, help_heading = "Shards", conflicts_with_all = ["watch", "shard"])]
    engine: Option<Engine>,
    /// Directory for the shards of `--engine`; the run is written there, too [default: in `.jurat/parts`, until they are merged]
    #[arg(long, value_name = "DIR", help_heading = "Shards", requires = "engine")]
    out: Option<PathBuf>,
    /// Run the shards of `--engine` although a process of another machine began to; it must have been silent for more than a minute
    #[arg(long, help_heading = "Shards", requires = "engine")]
    take_over: bool,
    /// Run one shard of a plan made by `jurat shards`: its directory and the number of the shard
    #[arg(long, value_name = "DIR:N", value_parser = ShardName::parse, help_heading = "Shards",
          conflicts_with_all = ["watch", "outputs", "save_records", "tasks", "gate"])]
    shard: Option<ShardName>,
    /// With `--shard`: divide budgets, `-j` and the rates of models by the number of processes, and use the part of this one, counted from 0
    #[arg(long, value_name = "I/N", value_parser = share, help_heading = "Shards", requires = "shard", conflicts_with = "coordinator")]
    share: Option<Share>,
    /// Lease budget, requests in flight and rates from `jurat coordinate` at this address; for `--shard`, and for `--engine` with a cluster
    #[arg(long, value_name = "URL", help_heading = "Shards")]
    coordinator: Option<String>,
    /// Print the result of every task of every case
    #[arg(long)]
    tasks: bool,
    #[command(flatten)]
    options: RunArguments<OfRun>,
    /// Run again whenever a file of the suite changes: definitions, prompts, code, data and scripts
    #[arg(long, conflicts_with = "replay")]
    watch: bool,
    #[arg(long = "output", short = 'o', value_name = "FILE", value_parser = ResultsFile::parse, help_heading = "Output",
          help = ResultsFile::help())]
    outputs: Vec<ResultsFile>,
    #[command(flatten, next_help_heading = "Output")]
    columns: ColumnsOption,
    /// Write the rows with the subject's responses to a file of JSON lines, for other suites to judge
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save_records: Option<PathBuf>,
    /// Print only what a replay reproduces byte for byte
    #[arg(long, help_heading = "Output")]
    results_only: bool,
    /// Show no progress
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
    /// How progress is shown on standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output", conflicts_with = "quiet")]
    progress: ProgressFormat,
    #[command(flatten)]
    format: FormatOption,
}

impl Run {
    pub(crate) fn run(&self) -> Exit {
        if let Some(name) = &self.shard {
            let format = self.format.get();
            let shows = self.progress.shows(!self.quiet && format == Format::Text);
            return exit(shard::run(name, self.options.options(), self.allowance(), shows, format));
        }
        if let Err(message) = self.can_be() {
            print_reason(&message);
            return Exit::Wrong;
        }
        loop {
            let (exit, watched) = self.run_all();
            if !self.watch || exit == Exit::Interrupted || watched.is_in_vain() {
                return exit;
            }
            let files = jurat_report::counted(watched.n_files() as u64, "file");
            let _ = writeln!(io::stderr(), "\nwatching {files}; press Ctrl-C to end");
            let changed: Vec<String> = watched.wait().iter().map(|it| it.display().to_string()).collect();
            let _ = writeln!(io::stderr(), "changed: {}\n", jurat_report::visible_line(&changed.join(", ")));
        }
    }

    fn allowance(&self) -> Allowance {
        match (self.share, &self.coordinator) {
            (Some(share), _) => Allowance::Share(share),
            (None, Some(url)) => Allowance::Coordinator(url.clone()),
            (None, None) => Allowance::Own,
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
        if self.coordinator.is_some() && !matches!(self.engine, Some(Engine::Cluster(_))) {
            return Err("`--coordinator` is for `--shard`, and for `--engine ray` and `--engine spark`".to_owned());
        }
        if self.columns.is_given() && !self.outputs.iter().any(|it| has_columns(it.format)) {
            let endings = endings(has_columns, "or", "`");
            return Err(format!(
                "`--columns` chooses columns of a table; add `-o FILE` with a name that ends in {endings}"
            ));
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
    fn run_all(&self) -> (Exit, Watched) {
        let mut watched = Watched::these(&self.files);
        let mut ended: Vec<Ended> = Vec::new();
        for file in &self.files {
            ended.push(self.run_suite(file, &mut watched));
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

    fn run_suite(&self, file: &Path, watched: &mut Watched) -> Ended {
        let (exit, sentence) = match self.evaluate(file, watched) {
            Ok((exit, sentence)) => (exit, Some(sentence)),
            Err(Failure::OutputClosed | Failure::Printed) => (Exit::Wrong, None),
            Err(Failure::Reason(reason)) => {
                print_reason(&reason);
                (Exit::Wrong, None)
            }
        };
        Ended { file: file.to_owned(), exit, sentence }
    }

    /// Runs a suite and prints its results. Returns how it ended, with the sentence that says why.
    fn evaluate(&self, file: &Path, watched: &mut Watched) -> Result<(Exit, String), Failure> {
        let options = self.options.options();
        let checked = definition::read(file, &self.profiles).ok_or(Failure::Printed)?;
        watched.merge(Watched::these(checked.files(&options)));
        let suite = self.compiled(checked, &options)?;
        if self.watch && suite.takes_rows() {
            watched.give_up();
            return Err(Failure::Reason(
                "`--watch` runs a suite several times, and standard input can be read only once; put the rows into a file"
                    .to_owned(),
            ));
        }
        if self.save_records.is_some() && !suite.asks() {
            let reason = "`--save-records` writes what subjects answered, and this suite has no `ask`";
            return Err(Failure::Reason(reason.to_owned()));
        }
        let options = if suite.takes_rows() { options.input(io::stdin()) } else { options };
        let (is_gated, base) = (options.gate, options.base.as_deref().map(existing));
        let run = match self.run_as_shards(&suite, &options)? {
            Some(engine::Ended::Merged(run)) => *run,
            Some(engine::Ended::Stopped(exit, sentence)) => return Ok((exit, sentence)),
            None => self.run_to_end(&suite, options)?,
        };
        let (path, stopped, has_measured) = (run.path().to_owned(), run.stopped(), run.case_counts().measured > 0);
        let ended = self.print_results(&several::suite_name(suite.name(), file), run)?;
        match is_gated && can_be_decided(ended.0, stopped, has_measured) {
            true => self.gated(&path, base),
            false => Ok(ended),
        }
    }

    /// Runs a suite on an engine, when there is one.
    fn run_as_shards(&self, suite: &jurat::Suite, options: &RunOptions) -> Result<Option<engine::Ended>, Failure> {
        let place = Place { out: self.out.clone(), take_over: self.take_over };
        let shows = self.progress.shows(!self.quiet);
        Ok(match &self.engine {
            Some(Engine::Local(n)) => Some(local::run(suite, options, *n, &place, shows)?),
            Some(Engine::Cluster(name)) => {
                Some(engine::run(suite, options, name, &place, self.coordinator.as_deref())?)
            }
            None => None,
        })
    }

    /// Decides whether a run may pass, after its results.
    fn gated(&self, run: &Path, base: Option<String>) -> Result<(Exit, String), Failure> {
        let is_text = self.format.get() == Format::Text;
        let options = GateOptions { base: base.as_ref().map(SideName::from), ..GateOptions::default() };
        let report = jurat::gate::gate(".", &run.display().to_string(), &options)?;
        let exit = Exit::of_gate(report.verdict);
        let mut out: Box<dyn Write> =
            if is_text { Box::new(io::stdout().lock()) } else { Box::new(io::stderr().lock()) };
        writeln!(out)?;
        write_gate(&mut out, &report, style(&io::stdout()), progress::window())?;
        Ok((exit, format!("gate: {}", report.verdict.name())))
    }

    /// The suite, when nothing is wrong with it. Its problems are printed.
    fn compiled(&self, checked: Checked, options: &RunOptions) -> Result<jurat::Suite, Failure> {
        let problems = checked.problems_of_run(options);
        print_problems(&problems)?;
        if problems.has_errors() {
            return Err(Failure::Printed);
        }
        Ok(checked.into_suite()?)
    }

    fn run_to_end(&self, suite: &jurat::Suite, options: RunOptions) -> Result<jurat::Run, Failure> {
        let running = suite.start_with_notes(options, |note| {
            let _ = writeln!(io::stderr(), "{}", jurat_report::visible_line(&note.to_string()));
        })?;
        let listener = Listener::start(running.watch());
        let shows = self.progress.shows(!self.quiet && is_watched(self.format.get()));
        let shown = progress::Shown::start(running.watch(), shows);
        let run = running.wait();
        drop(shown);
        listener.run_is_over();
        Ok(run?)
    }

    /// Prints a run, writes the files that were asked for, and returns how it ended.
    fn print_results(&self, suite: &str, run: jurat::Run) -> Result<(Exit, String), Failure> {
        if let Some(path) = &self.save_records {
            save_records(&run, &several::own_file(path, suite))?;
        }
        let report = run.report();
        let ended = (Exit::of_run(run.conclusion()), report.decision.sentence.clone());
        let export = self.columns.export(&run, self.results_only)?;
        for ResultsFile { path, format } in &self.outputs {
            match export.write_file(format, several::own_file(path, suite)).map_err(Failure::from) {
                Ok(()) | Err(Failure::OutputClosed) => {}
                Err(failure) => return Err(failure),
            }
        }
        let format = self.format.get();
        if report.cases.total() == 0 && report.is_complete() && format == Format::Text {
            let sentence = self.nothing_to_run(&run);
            print_reason(&sentence);
            // A run without a case has nothing to show. If its file cannot be removed, it is in the list of runs.
            let path = run.path();
            drop(export);
            drop(run);
            let _ = fs::remove_file(path);
            return Ok(ended);
        }
        match rendered_run::print(&export, format, self.tasks, None) {
            Ok(()) | Err(Failure::OutputClosed) => Ok(ended),
            Err(failure) => Err(failure),
        }
    }

    /// Why there was no case to run.
    fn nothing_to_run(&self, run: &jurat::Run) -> String {
        match run.rerun() {
            Some(cases) => format!("nothing was judged: there is no case to run again ({cases})"),
            None => format!("{}{}", run.decision().sentence, self.selection_words()),
        }
    }

    /// The options that select cases, as they were given.
    fn selection_words(&self) -> String {
        let RunOptions { tags, filter, limit, .. } = self.options.options();
        let tags = tags.iter().map(|it| format!("`--tag {it}`"));
        let filter = filter.iter().map(|it| format!("`--filter '{it}'`"));
        let limit = limit.iter().map(|it| format!("`--limit {it}`"));
        let given: Vec<String> = tags.chain(filter).chain(limit).collect();
        if given.is_empty() { String::new() } else { format!(" by {}", given.join(", ")) }
    }
}

/// A side as its file, where a run was named: once there is another run, `latest` is that one.
fn existing(side: &str) -> String {
    let (name, selection) = side.split_once('@').map_or((side, None), |(name, rest)| (name, Some(rest)));
    match (jurat::Run::find_file(".", name), selection) {
        (Ok(path), None) => path.display().to_string(),
        (Ok(path), Some(selection)) => format!("{}@{selection}", path.display()),
        (Err(_), _) => side.to_owned(),
    }
}

/// Whether a gate says more about a run than how it ended: not about one that was interrupted, ran out of a budget, or has no case. A suite that only measures
/// has nothing to pass or fail by itself, but conditions on its scores and costs do.
fn can_be_decided(exit: Exit, stopped: Option<StopReason>, has_measured: bool) -> bool {
    let is_over = matches!(stopped, None | Some(StopReason::Decided));
    let has_results = matches!(exit, Exit::Good | Exit::Failed | Exit::Undecided);
    is_over && (has_results || (exit == Exit::Nothing && has_measured))
}

fn long_about() -> String {
    let providers: Vec<&str> = jurat::Model::providers().collect();
    format!(
        "Runs suites and prints their results\n\nEvery response is stored before it is used: the same command resumes an interrupted run, and no \
         response is paid for twice. Models are `provider/model`: {}, or `script/FILE` (canned replies) and `exec/CMD` (a program).",
        providers.join(", ")
    )
}

fn share(text: &str) -> Result<Share, BadShare> {
    text.parse()
}

/// Progress is shown to people; a program that reads JSON does not need it.
fn is_watched(format: Format) -> bool {
    io::stderr().is_terminal() || format == Format::Text
}

/// Writes the rows with the responses of subjects as JSON lines.
fn save_records(run: &jurat::Run, file: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Reason(format!("`{}` cannot be written: {error}", file.display()));
    let mut out = BufWriter::new(File::create(file).map_err(failed)?);
    for row in run.answered() {
        writeln!(out, "{}", row?).map_err(failed)?;
    }
    out.flush().map_err(failed)
}
