//! `jurat plan`: what a run would do, before it does it.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use jurat_report::plan::{write_dot, write_json, write_mermaid, write_svg, write_text};

use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{GraphFormat, style};
use crate::progress::window;
use crate::run_arguments::{OfPlan, RunArguments};

/// Prints what a run would do: stages, cases, the maximum number of requests and the maximum cost
///
/// Reads the data and looks up cached responses in the journal. No request is made, no key is needed and nothing is written. The maximum includes all
/// retries; tasks that a gate skips are not counted.
#[derive(Args)]
pub(crate) struct Plan {
    /// The suite
    #[arg(default_value = definition::DEFAULT)]
    file: PathBuf,
    #[command(flatten)]
    profiles: ProfileOptions,
    #[command(flatten)]
    options: RunArguments<OfPlan>,
    /// Output format
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Plan {
    pub(crate) fn run(&self) -> Exit {
        exit(self.plan())
    }

    fn plan(&self) -> Result<Exit, Failure> {
        let options = self.options.options();
        let mut checked = definition::read(&self.file, &self.profiles).ok_or(Failure::Printed)?;
        checked.require(&options)?;
        let problems = checked.problems();
        definition::print_problems(&problems)?;
        if problems.has_errors() {
            return Err(Failure::Printed);
        }
        for note in checked.notes(&options)? {
            writeln!(io::stderr(), "{}", jurat_report::visible_line(&note.to_string()))?;
        }
        let suite = checked.into_suite()?;
        let format = if self.json { GraphFormat::Json } else { self.format };
        let report = match format {
            GraphFormat::Text | GraphFormat::Json => suite.forecast(&options)?,
            // A drawing shows nothing that depends on data.
            GraphFormat::Mermaid | GraphFormat::Dot | GraphFormat::Svg => suite.outline(&options)?,
        };
        let mut out = BufWriter::new(io::stdout().lock());
        match format {
            GraphFormat::Text => write_text(&mut out, &report, style(&io::stdout()), window())?,
            GraphFormat::Json => write_json(&mut out, &report)?,
            GraphFormat::Mermaid => write_mermaid(&mut out, &report)?,
            GraphFormat::Dot => write_dot(&mut out, &report)?,
            GraphFormat::Svg => write_svg(&mut out, &report)?,
        }
        out.flush()?;
        Ok(Exit::Good)
    }
}
