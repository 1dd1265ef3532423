//! A definition as every command reads it: from disk.

use std::path::Path;

use clap::Args;
use jurat::{Checked, Profiles};

use crate::failure::print_reason;
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
