//! `jurat schema`: the JSON Schema of definitions, for editors.

use std::io::Write;

use clap::Args;
use jurat_core::suite::schema::suite_schema;

use crate::exit::Exit;

/// Prints the JSON Schema of suites, so that editors complete and check them
///
/// Save it and name it in the first line of a suite: `# yaml-language-server: $schema=suite.schema.json`
#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(&self) -> Exit {
        let text = jurat_report::pretty_json(&suite_schema());
        // A reader that goes away early, such as `head`, is no failure of ours.
        let _ = writeln!(std::io::stdout(), "{text}");
        Exit::Good
    }
}
