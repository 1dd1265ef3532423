//! `jurat schema`: the JSON Schemas of definitions, for editors, and of evidence, for those who write paths.

use std::io::Write;

use clap::{Args, ValueEnum};
use jurat_core::evidence::{probe, record, run, scenario};
use jurat_core::suite::schema::suite_schema;

use crate::exit::Exit;

/// Prints the JSON Schema of suites, for completion and checks in editors
///
/// Save it and name it in the first line of a suite: `# yaml-language-server: $schema=suite.schema.json`
#[derive(Args)]
pub(crate) struct Schema {
    /// Print the schema of the evidence that tasks read, for cases of this kind
    #[arg(long, value_enum, value_name = "KIND")]
    evidence: Option<Evidence>,
}

/// Kinds of evidence.
#[derive(ValueEnum, Clone, Copy)]
enum Evidence {
    /// A row of `records`
    Record,
    /// A row with the response to `ask`
    Probe,
    /// A conversation
    Scenario,
    /// An agent run
    Run,
}

impl Schema {
    pub(crate) fn run(&self) -> Exit {
        let schema = match self.evidence {
            None => suite_schema(),
            Some(Evidence::Record) => record::schema(),
            Some(Evidence::Probe) => probe::schema(),
            Some(Evidence::Scenario) => scenario::schema(),
            Some(Evidence::Run) => run::schema(),
        };
        let text = jurat_report::pretty_json(&schema);
        // A reader that goes away early, such as `head`, is no failure of ours.
        let _ = writeln!(std::io::stdout(), "{text}");
        Exit::Good
    }
}
