//! A definition as every command reads it: from disk.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use jurat_engine::Examined;
use jurat_sandbox::Program;
use jurat_store::Profiles;

/// The suite that is found by itself.
pub(crate) const DEFAULT: &str = "jurat.yaml";

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

/// Reads a definition and finds everything that is wrong with it. When it cannot be put together, that is told, and there is none.
pub(crate) fn read(file: &Path, profiles: &ProfileOptions) -> Option<Examined> {
    let profiles =
        Profiles { run: profiles.run_profile.as_deref(), evaluation: profiles.evaluation_profile.as_deref() };
    match Examined::open(file, profiles) {
        Ok(examined) => Some(examined),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(&error.to_string()));
            None
        }
    }
}

/// The same, with the code of its evaluators parsed by the interpreters that would run it.
pub(crate) fn read_with_code(file: &Path, profiles: &ProfileOptions) -> Option<Examined> {
    let mut examined = read(file, profiles)?;
    // A program that does not know where it is has no workers; `run` says so.
    if let Ok(worker) = Program::this() {
        examined.parse_code(worker);
    }
    Some(examined)
}
