//! A suite as it was read, with everything that is wrong with it: what `jurat check` reports.

use std::path::{Path, PathBuf};

use jurat_core::suite::RowSource;
use jurat_engine::{Conditions, Examined, Resources};
use jurat_format::codes;
use jurat_format::problem::Problem as Found;
use jurat_model::dotenv::Environment;
use jurat_store::Disk;

use crate::suite::Code;
use crate::{Error, Note, Problems, Profiles, RunOptions, Suite, worker};

/// A suite that was read, whether or not it can be run.
///
/// ```
/// use jurat::{Checked, Profiles, RunOptions};
///
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("suite.yaml");
/// # std::fs::write(&file, "suite: s\nrecords: [{a: 1}]\ntasks: [{id: one, field_path: a, operator: equals, expected_value: 1}]")?;
/// let mut checked = Checked::read(&file, &Profiles::default())?;
/// checked.require(&RunOptions::new())?;
/// assert!(checked.problems().is_empty());
/// assert_eq!(checked.contents(), "1 task, 1 sample row");
/// let suite = checked.into_suite()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Checked(pub(crate) Examined);

impl Checked {
    /// Reads a suite from a file, as the command does. It fails where the files of a campaign do not fit together; other mistakes are its
    /// [problems](Checked::problems).
    pub fn read(path: impl AsRef<Path>, profiles: &Profiles) -> Result<Checked, Error> {
        Examined::open(path.as_ref(), profiles).map(Checked).map_err(|error| Error::Usage(error.to_string()))
    }

    /// Has the code of its evaluators parsed, where this program [runs code](crate::serve_as_worker). Nothing of it is run.
    pub fn parse_code(&mut self) {
        if let Some(worker) = worker::program() {
            self.0.parse_code(worker);
        }
    }

    /// Looks for everything that a run with these options needs: models, scripts, programs, files, variables and a sandbox. Nothing that the suite names is
    /// started, and nothing is sent.
    pub fn require(&mut self, options: &RunOptions) -> Result<(), Error> {
        let env = environment(&self.0, &options.directory, options)?;
        let resources = Resources {
            files: &Disk,
            env: &|name| env.get(name),
            env_files: &env.looked_for(),
            functions: &options.functions,
            evaluators: &Default::default(),
            agents: &Default::default(),
            worker: worker::program(),
        };
        let RunOptions { models, unsafe_code, unsafe_host, .. } = options;
        let (unsafe_code, unsafe_host) = (*unsafe_code, *unsafe_host);
        self.0.require(&Conditions { models, unsafe_code, unsafe_host, resources: &resources });
        Ok(())
    }

    /// The variables of `.env` files that a run does not use.
    pub fn notes(&self, options: &RunOptions) -> Result<Vec<Note>, Error> {
        let env = environment(&self.0, &options.directory, options)?;
        Ok(env.notes().into_iter().map(Note::Variable).collect())
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.0.suite.name.as_ref().map(|it| it.value.as_str())
    }

    /// Everything that is wrong with it.
    pub fn problems(&self) -> Problems {
        Problems::new(self.0.problems.clone(), self.0.sources.clone())
    }

    /// The problems that keep a run with these options from starting, and warnings. Whether every role has a model is known when the run starts; a replay
    /// does not need the code of the suite.
    pub fn problems_of_run(&self, options: &RunOptions) -> Problems {
        let is_of_run = |it: &&Found| {
            it.code.name != codes::NO_MODEL.name && !(options.replay.is_some() && codes::is_missing_code(it))
        };
        Problems::new(self.0.problems.iter().filter(is_of_run).cloned().collect(), self.0.sources.clone())
    }

    /// What it has, in words: `2 scenarios, 3 tasks`.
    pub fn contents(&self) -> String {
        let Examined { suite, samples, .. } = &self.0;
        let has = |n: usize, what: &str| (n > 0).then(|| jurat_report::counted(n as u64, what));
        let tasks = Some(jurat_report::counted(suite.tasks.len() as u64, "task"));
        let rows = (!suite.records.is_empty()).then(|| jurat_report::counted(samples.rows.len() as u64, "sample row"));
        let all = [has(suite.scenarios.len(), "scenario"), has(suite.cases.len(), "case"), tasks, rows];
        all.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Its files: definitions, prompts, code, data, and scripts of its models and of those that a run gives it.
    pub fn files(&self, options: &RunOptions) -> Vec<PathBuf> {
        let Examined { suite, sources, .. } = &self.0;
        let script = |model: &str| model.strip_prefix("script/").map(PathBuf::from);
        let texts = sources.iter().map(|(_, it)| it.path.clone());
        let rows = suite.records.iter().flat_map(|it| match &it.from {
            RowSource::Files(files) => files.iter().map(|it| it.path.clone()).collect(),
            RowSource::StandardInput | RowSource::Program | RowSource::Inline(_) => Vec::new(),
        });
        let written = suite.models.iter().flat_map(|it| &it.models).filter_map(|it| {
            let home = sources.get(it.model.span.source)?.path.parent()?;
            Some(home.join(script(&it.model.value)?))
        });
        let given = options.models.iter().filter_map(|(_, model)| script(model));
        texts.chain(rows).chain(written).chain(given).collect()
    }

    /// The suite, when it has no errors that keep it from being replayed.
    pub fn into_suite(self) -> Result<Suite, Error> {
        Suite::compiled(self.0, Code::default())
    }
}

/// Variables of the process. One that is no text is none of ours.
pub(crate) fn process_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Variables of the process, those of the `.env` files of the suite and the directory, and those that the run was given, which precede others.
pub(crate) fn environment(examined: &Examined, directory: &Path, options: &RunOptions) -> Result<Environment, Error> {
    let given = options.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    let file = Some(examined.file.as_path()).filter(|it| it.is_file());
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let found = Environment::find(process_variables().chain(given), file, directory);
    found.map_err(|error| Error::Usage(error.to_string()))
}
