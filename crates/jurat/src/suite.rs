//! A suite that is ready to run.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jurat_core::plan::Plan;
use jurat_core::report::plan::PlanReport;
use jurat_core::scenario::Scenario;
use jurat_core::suite::RowSource;
use jurat_engine::{
    Asking, Conditions, Definition, Examined, Functions, HostFunctions, LaunchError, Resources, documents, forecast,
    missing, outline, suite_hash,
};
use jurat_format::problem::Severity;
use jurat_format::source::{Files, ReadError};
use jurat_model::dotenv::Environment;
use jurat_report::Style;
use jurat_report::plan::{write_svg, write_text};
use jurat_store::{Disk, Project};

use crate::checked::environment;
use crate::error::launch_error;
use crate::{Checked, Error, Note, Problems, Profiles, Run, RunOptions, Running, SuiteBuilder, worker};

/// A definition without errors: built in Rust, or read from a file. It is cheap to clone and can be run as often as you like.
///
/// ```
/// use jurat::{Assertion, Conclusion, RunOptions, Suite, compare::equals};
/// use serde_json::json;
///
/// let suite = Suite::builder("invoices")
///     .record(json!({ "id": "r1", "status": "paid" }))
///     .task(Assertion::new("paid", "status", equals("paid")))
///     .build()?;
/// # let directory = tempfile::tempdir()?;
/// let run = suite.run(RunOptions::in_directory(directory.path()))?;
/// assert_eq!(run.conclusion(), Conclusion::Passed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Suite(pub(crate) Arc<Compiled>);

/// What a suite is, once.
pub(crate) struct Compiled {
    pub(crate) examined: Examined,
    pub(crate) plan: Plan,
    pub(crate) functions: Functions,
    pub(crate) evaluators: HostFunctions,
    pub(crate) agents: HostFunctions,
    pub(crate) warnings: Problems,
}

/// What of a suite is code of the program.
#[derive(Default)]
pub(crate) struct Code {
    /// The functions that are models.
    pub(crate) functions: Functions,
    /// The functions that evaluate.
    pub(crate) evaluators: HostFunctions,
    /// The functions that run cases.
    pub(crate) agents: HostFunctions,
    /// The scenarios that the definition was written from.
    pub(crate) scenarios: Vec<Scenario>,
}

impl Suite {
    /// The name of a definition that is in no file: places in it are places in [`Suite::definition`].
    pub(crate) const BUILT: &str = "<suite.definition>";

    /// Begins a suite of this name.
    pub fn builder(name: impl Into<String>) -> SuiteBuilder {
        SuiteBuilder::new(name.into())
    }

    /// Reads a suite from a file of YAML or JSON, as the command does.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let file = directory.path().join("suite.yaml");
    /// # std::fs::write(&file, "suite: s\nrecords: [{a: 1}]\ntasks: [{id: one, field_path: a, operator: equals, expected_value: 1}]")?;
    /// let suite = jurat::Suite::load(&file)?;
    /// assert_eq!(suite.name(), Some("s"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A suite or a single case of a campaign, in the files of another program, is read with the cases and agents that belong to it by where they stand.
    pub fn load(path: impl AsRef<Path>) -> Result<Suite, Error> {
        Suite::load_with(path, Profiles::default())
    }

    /// Reads a suite of a campaign with its profiles: how its cases are run, and how they are judged.
    ///
    /// ```
    /// use jurat::{Profiles, Suite};
    ///
    /// # let configs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents-peer/configs");
    /// let profiles = Profiles { run: Some("twice".to_owned()), evaluation: Some("strict".to_owned()) };
    /// let suite = Suite::load_with(configs.join("suites/geography.yaml"), profiles)?;
    /// assert_eq!(suite.name(), Some("geography"));
    /// # Ok::<(), jurat::Error>(())
    /// ```
    pub fn load_with(path: impl AsRef<Path>, profiles: Profiles) -> Result<Suite, Error> {
        Checked::read(path, &profiles)?.into_suite()
    }

    /// Reads a suite whose rows the program gives, where the file says standard input: messages and names of cases say so.
    pub fn load_for_rows(path: impl AsRef<Path>, profiles: Profiles) -> Result<Suite, Error> {
        let mut checked = Checked::read(path, &profiles)?;
        take_rows_of_program(&mut checked.0);
        checked.into_suite()
    }

    /// Reads a suite from text. Relative paths in it start at `directory`.
    ///
    /// ```
    /// let suite = jurat::Suite::from_yaml(
    ///     "{ suite: s, records: [{a: 1}], tasks: [{ id: one, field_path: a, operator: equals, expected_value: 1 }] }",
    ///     ".",
    /// )?;
    /// assert_eq!(suite.stages(), [["one"]]);
    /// # Ok::<(), jurat::Error>(())
    /// ```
    pub fn from_yaml(text: impl Into<String>, directory: impl AsRef<Path>) -> Result<Suite, Error> {
        Suite::examined(&directory.as_ref().join(Suite::BUILT), text.into(), Code::default())
    }

    pub(crate) fn examined(path: &Path, text: String, code: Code) -> Result<Suite, Error> {
        let mut examined = Examined::with_code(path, &Given(text), &code.scenarios);
        take_rows_of_program(&mut examined);
        Suite::compiled(examined, code)
    }

    pub(crate) fn compiled(mut examined: Examined, code: Code) -> Result<Suite, Error> {
        let Code { functions, evaluators, agents, .. } = code;
        let warnings = Problems::new(examined.problems.clone(), examined.sources.clone());
        match examined.plan.take() {
            Some(plan) => Ok(Suite(Arc::new(Compiled { examined, plan, functions, evaluators, agents, warnings }))),
            None => Err(Error::Suite(warnings)),
        }
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.0.examined.suite.name.as_ref().map(|it| it.value.as_str())
    }

    /// Its definition as text: what a file that says the same would hold.
    ///
    /// ```
    /// # use jurat::{Assertion, Suite, compare::equals};
    /// let suite = Suite::builder("invoices")
    ///     .record([("status", "paid")].into_iter().collect::<std::collections::BTreeMap<_, _>>())
    ///     .task(Assertion::new("paid", "status", equals("paid")))
    ///     .build()?;
    /// assert_eq!(suite.definition(), "\
    /// suite: invoices
    /// records:
    ///   - status: paid
    /// tasks:
    ///   - id: paid
    ///     field_path: status
    ///     operator: equals
    ///     expected_value: paid
    /// ");
    /// # Ok::<(), jurat::Error>(())
    /// ```
    pub fn definition(&self) -> &str {
        self.0.examined.sources.iter().next().map_or("", |(_, it)| &it.text)
    }

    /// What names it by the content of all its texts: equal on two machines only if both have the same definition.
    pub fn digest(&self) -> String {
        suite_hash(&documents(&self.0.examined.sources))
    }

    /// What does not keep it from running, but is probably a mistake. A definition with the words of code is among them: it can be replayed,
    /// while running it needs the program that has the code.
    pub fn warnings(&self) -> &Problems {
        &self.0.warnings
    }

    /// The ids of the tasks, stage by stage: those of one stage depend on nothing but earlier ones.
    pub fn stages(&self) -> Vec<Vec<&str>> {
        let Compiled { plan, .. } = &*self.0;
        let ids = |stage: &jurat_core::plan::Stage| stage.iter().map(|it| plan.tasks[it.index()].id.as_str()).collect();
        plan.stages.iter().map(ids).collect()
    }

    /// What a run would do, in words: the tasks stage by stage, what leads to what, which models they ask and how often at most. Data is not read and
    /// models are not asked. It fails where `jurat check` reports an error: a program, a file or a script that a run needs is missing.
    ///
    /// ```
    /// # use jurat::{Assertion, Judge, Suite, compare::is_not_empty};
    /// # use serde_json::json;
    /// let suite = Suite::builder("tone")
    ///     .record(json!({ "answer": "Hello!" }))
    ///     .model("judge", "openai/gpt-5-mini")
    ///     .task(Assertion::new("answered", "answer", is_not_empty()).gate())
    ///     .task(Judge::new("polite", "Is this polite? ${answer}").depends_on(["answered"]))
    ///     .build()?;
    /// let plan = suite.plan()?;
    /// assert!(plan.contains("answered (gate)\n└─ polite"), "{plan}");
    /// # Ok::<(), jurat::Error>(())
    /// ```
    pub fn plan(&self) -> Result<String, Error> {
        let mut text = Vec::new();
        write_text(&mut text, &self.required_outline()?, Style::Plain, None).map_err(Error::Write)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The same as a drawing: its tasks as a graph, in SVG.
    ///
    /// ```
    /// # use jurat::{Assertion, Suite, compare::is_not_empty};
    /// # let suite = Suite::builder("tone").records_at_run().task(Assertion::new("answered", "answer", is_not_empty())).build()?;
    /// assert!(suite.plan_svg()?.starts_with("<svg"));
    /// # Ok::<(), jurat::Error>(())
    /// ```
    pub fn plan_svg(&self) -> Result<String, Error> {
        let mut text = Vec::new();
        write_svg(&mut text, &self.required_outline()?).map_err(Error::Write)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn required_outline(&self) -> Result<PlanReport, Error> {
        let options = RunOptions::new();
        self.require(&environment(&self.0.examined, &options.directory, &options)?)?;
        self.outline(&options)
    }

    /// What a run with these options would do, as data. The cases are not read.
    pub fn outline(&self, options: &RunOptions) -> Result<PlanReport, Error> {
        self.asking(options, outline)
    }

    /// The same, with the number of cases, and with the responses that the journal of the project has.
    pub fn forecast(&self, options: &RunOptions) -> Result<PlanReport, Error> {
        let directory = if options.directory.as_os_str().is_empty() { Path::new(".") } else { &options.directory };
        let project = Project::find(directory).filter(|it| it.journal_path().exists());
        let journal = match project.map(|it| it.journal()).transpose() {
            // A run would set it aside.
            Err(error) if error.is_damage() => None,
            opened => opened.map_err(|error| Error::Read(Box::new(error)))?,
        };
        self.asking(options, |definition, asking| forecast(definition, asking, journal.as_ref()))
    }

    fn asking(
        &self,
        options: &RunOptions,
        report: impl FnOnce(Definition<'_>, Asking<'_>) -> Result<PlanReport, LaunchError>,
    ) -> Result<PlanReport, Error> {
        let environment = environment(&self.0.examined, &options.directory, options)?;
        let env = |name: &str| environment.get(name);
        let in_words = |error| launch_error(error, &self.0.examined.sources);
        let selection = options.selection(None).map_err(|error| in_words(error.into()))?;
        let (repeat, batch) = (options.repeat.unwrap_or(1), options.batch);
        let asking = Asking { models: &options.models, selection: &selection, repeat, batch, env: &env };
        report(self.definition_to_run(), asking).map_err(in_words)
    }

    /// Fails when something is missing that a run needs on every machine. A key that is not set is not such.
    fn require(&self, environment: &Environment) -> Result<(), Error> {
        let definition = self.definition_to_run();
        let Compiled { functions, evaluators, agents, .. } = &*self.0;
        let resources = Resources {
            files: &Disk,
            env: &|name| environment.get(name),
            env_files: &environment.looked_for(),
            functions,
            evaluators,
            agents,
            worker: worker::program(),
        };
        let (unsafe_code, unsafe_host) = (false, false);
        let conditions = Conditions { models: &[], unsafe_code, unsafe_host, resources: &resources };
        let mut missing = missing(definition, &conditions);
        missing.retain(|it| it.severity() == Severity::Error);
        if missing.is_empty() {
            return Ok(());
        }
        Err(launch_error(LaunchError::Unready(missing), definition.sources))
    }

    /// Runs it and waits for the end. It may be called wherever waiting is allowed; in asynchronous code use [`start`](Suite::start).
    pub fn run(&self, options: RunOptions) -> Result<Run, Error> {
        self.start(options)?.wait()
    }

    /// Begins to run it, on threads of its own. What comes back is a future, and can be watched and stopped.
    pub fn start(&self, options: RunOptions) -> Result<Running, Error> {
        self.start_with_notes(options, |_| {})
    }

    /// The same, and calls a function with what the caller may want to know before the first case: that an interrupted run is resumed, for example.
    pub fn start_with_notes(
        &self,
        options: RunOptions,
        note: impl FnMut(Note) + Send + 'static,
    ) -> Result<Running, Error> {
        Running::start(self, options, note, || {})
    }

    /// The same, and calls another function first, on the thread of the run. Code of the program that answers later is called on that thread, so what the function
    /// leaves there in thread-local variables says which run a call belongs to.
    pub fn start_within(
        &self,
        options: RunOptions,
        note: impl FnMut(Note) + Send + 'static,
        enter: impl FnOnce() + Send + 'static,
    ) -> Result<Running, Error> {
        Running::start(self, options, note, enter)
    }

    /// Whether its rows are given when it is run.
    pub fn takes_rows(&self) -> bool {
        self.0.examined.suite.records.iter().any(|it| it.from.is_stream())
    }

    /// Whether it asks models before it judges, so that a run has [answers](Run::answered).
    pub fn asks(&self) -> bool {
        self.0.plan.ask.as_ref().is_some_and(|it| it.talks().next().is_none())
    }

    /// Whether a run of it makes requests of any kind: to models, to tools, to code or to agents.
    pub fn makes_requests(&self) -> bool {
        self.0.plan.asks()
    }

    pub(crate) fn definition_to_run(&self) -> Definition<'_> {
        let Compiled { examined, plan, .. } = &*self.0;
        Definition { suite: &examined.suite, sources: &examined.sources, plan }
    }
}

/// The definition and its warnings are too much for one line.
impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite").field("name", &self.name()).field("stages", &self.stages()).finish_non_exhaustive()
    }
}

/// What a file calls standard input is what the program gives.
fn take_rows_of_program(examined: &mut Examined) {
    let streams = examined.suite.records.iter_mut().filter(|it| it.from == RowSource::StandardInput);
    streams.for_each(|it| it.from = RowSource::Program);
}

/// A definition in memory whose other files are on disk.
struct Given(String);

impl Files for Given {
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        if path.file_name().is_none_or(|it| it != Suite::BUILT) {
            return Disk.read(path, limit);
        }
        let size = self.0.len() as u64;
        if size > limit { Err(ReadError::TooLarge { size, limit }) } else { Ok(self.0.clone().into_bytes()) }
    }
}
