//! A definition as every command reads it: from disk.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use jurat_engine::{Conditions, Examined, Functions, HostFunctions, Resources};
use jurat_format::problem::{Problem, Severity};
use jurat_format::source::Sources;
use jurat_sandbox::Program;
use jurat_store::{Disk, Profiles};

use crate::asking::environment;
use crate::format::style;
use crate::several;

/// The suite that is found by itself.
pub(crate) const DEFAULT: &str = jurat_core::suite::DEFAULT_FILE;

/// The profiles of a suite of another program.
#[derive(Args)]
pub(crate) struct ProfileOptions {
    /// How the cases of a campaign are run: the id of a run profile, or its file
    #[arg(long, value_name = "PROFILE", help_heading = "Campaigns")]
    run_profile: Option<String>,
    /// How the runs of a campaign are judged: the id of an evaluation profile, or its file
    #[arg(long, value_name = "PROFILE", help_heading = "Campaigns")]
    evaluation_profile: Option<String>,
}

impl ProfileOptions {
    fn get(&self) -> Profiles<'_> {
        Profiles { run: self.run_profile.as_deref(), evaluation: self.evaluation_profile.as_deref() }
    }
}

/// The name of a suite, where it can be read at all.
pub(crate) fn name(file: &Path, profiles: &ProfileOptions) -> Option<String> {
    let examined = Examined::open(file, profiles.get()).ok()?;
    Some(several::suite_name(&examined.suite, file))
}

/// Reads a definition and finds everything that is wrong with it. When it cannot be put together, that is told, and there is none.
pub(crate) fn read(file: &Path, profiles: &ProfileOptions) -> Option<Examined> {
    match Examined::open(file, profiles.get()) {
        Ok(examined) => Some(examined),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(&error.to_string()));
            None
        }
    }
}

/// The same, with the code of its evaluators parsed, and with everything looked for that a run needs.
pub(crate) fn read_to_check(file: &Path, profiles: &ProfileOptions, models: &[(String, String)]) -> Option<Examined> {
    let mut examined = read(file, profiles)?;
    // A program that does not know where it is has no workers; `run` says so.
    if let Ok(worker) = Program::this() {
        examined.parse_code(worker);
    }
    require(&mut examined, models)?;
    Some(examined)
}

/// Looks whether everything is there that a run with these models needs.
pub(crate) fn require(examined: &mut Examined, models: &[(String, String)]) -> Option<()> {
    let file = examined.sources.iter().next().map_or(Path::new(""), |(_, it)| it.path.as_path());
    let env = match environment(file) {
        Ok(env) => env,
        Err(reason) => {
            let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(&reason));
            return None;
        }
    };
    let resources = Resources {
        files: &Disk,
        env: &|name| env.get(name),
        env_files: &env.looked_for(),
        functions: &Functions::new(),
        evaluators: &HostFunctions::new(),
        agents: &HostFunctions::new(),
        worker: Program::this().ok(),
    };
    let (unsafe_code, unsafe_host) = (false, false);
    examined.require(&Conditions { models, unsafe_code, unsafe_host, resources: &resources });
    Some(())
}

/// Writes what is wrong with a definition, without what only a run refuses.
pub(crate) fn print_problems(problems: &[Problem], sources: &Sources) -> io::Result<()> {
    let problems: Vec<Problem> = problems.iter().filter(|it| it.severity() != Severity::Note).cloned().collect();
    if problems.is_empty() {
        return Ok(());
    }
    let mut out = io::stderr().lock();
    let style = style(&out);
    jurat_report::write_problems(&mut out, &problems, sources, style)?;
    jurat_report::write_summary(&mut out, &problems, style)
}
