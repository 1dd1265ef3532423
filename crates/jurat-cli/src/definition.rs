//! A definition as every command reads it: from disk.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use jurat::{Checked, Problems, Profiles};
use jurat_format::problem::{Problem, Severity};

use crate::failure::print_reason;
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
    fn get(&self) -> Profiles {
        Profiles { run: self.run_profile.clone(), evaluation: self.evaluation_profile.clone() }
    }
}

/// The name of a suite, where it can be read at all.
pub(crate) fn name(file: &Path, profiles: &ProfileOptions) -> Option<String> {
    let checked = Checked::read(file, &profiles.get()).ok()?;
    Some(several::suite_name(checked.name(), file))
}

/// Reads a definition and finds everything that is wrong with it. When it cannot be put together, the reason is printed.
pub(crate) fn read(file: &Path, profiles: &ProfileOptions) -> Option<Checked> {
    Checked::read(file, &profiles.get()).map_err(|error| print_reason(&error.to_string())).ok()
}

/// Writes what is wrong with a definition, without what only a run refuses.
pub(crate) fn print_problems(problems: &Problems) -> io::Result<()> {
    let found: Vec<Problem> = without_notes(problems);
    if found.is_empty() {
        return Ok(());
    }
    let mut out = io::stderr().lock();
    let style = style(&out);
    jurat_report::write_problems(&mut out, &found, problems.sources(), style)?;
    jurat_report::write_summary(&mut out, &found, style)?;
    out.flush()
}

/// The errors and warnings.
pub(crate) fn without_notes(problems: &Problems) -> Vec<Problem> {
    problems.as_slice().iter().filter(|it| it.severity() != Severity::Note).cloned().collect()
}
