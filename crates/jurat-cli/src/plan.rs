//! `jurat plan`: what a run would do, before it does it.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jurat_core::report::plan::PlanReport;
use jurat_engine::{Asking, Definition, Examined, forecast, outline};
use jurat_report::plan::{write_dot, write_json, write_mermaid, write_svg, write_text};
use jurat_store::Project;

use crate::asking::{AskingOptions, environment, print_notes};
use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::failure::{Failure, told};
use crate::format::style;
use crate::progress::width;

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
    asking: AskingOptions,
    /// Output format
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    format: PlanFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum PlanFormat {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
    /// The graph, as a Mermaid diagram for Markdown
    Mermaid,
    /// The graph, as a DOT file for Graphviz
    Dot,
    /// The graph, as an SVG image
    Svg,
}

impl Plan {
    pub(crate) fn run(&self) -> Exit {
        let Some(mut definition) = definition::read(&self.file, &self.profiles) else { return Exit::Wrong };
        if definition::require(&mut definition, &self.asking.models).is_none() {
            return Exit::Wrong;
        }
        let printed = definition::print_problems(&definition.problems, &definition.sources);
        if printed.is_err() || definition.has_errors() {
            return Exit::Wrong;
        }
        told(self.plan(&definition))
    }

    fn plan(&self, definition: &Examined) -> Result<Exit, Failure> {
        let Some(plan) = &definition.plan else { return Ok(Exit::Wrong) };
        let env = environment(&self.file)?;
        print_notes(&env);
        let selection = self.asking.selection()?;
        let asking = Asking {
            models: &self.asking.models,
            selection: &selection,
            repeat: self.asking.repeat,
            env: &|name| env.get(name),
        };
        let runnable = Definition { suite: &definition.suite, sources: &definition.sources, plan };
        let format = if self.json { PlanFormat::Json } else { self.format };
        let report = match format {
            PlanFormat::Text | PlanFormat::Json => forecasted(runnable, asking)?,
            // A drawing shows nothing that depends on data.
            PlanFormat::Mermaid | PlanFormat::Dot | PlanFormat::Svg => outline(runnable, asking)?,
        };
        let mut out = BufWriter::new(io::stdout().lock());
        match format {
            PlanFormat::Text => {
                let width = if io::stdout().is_terminal() { width() } else { None };
                write_text(&mut out, &report, style(&io::stdout()), width)?;
            }
            PlanFormat::Json => write_json(&mut out, &report)?,
            PlanFormat::Mermaid => write_mermaid(&mut out, &report)?,
            PlanFormat::Dot => write_dot(&mut out, &report)?,
            PlanFormat::Svg => write_svg(&mut out, &report)?,
        }
        out.flush()?;
        Ok(Exit::Good)
    }
}

/// With what the journal of this project has. Looking makes none.
fn forecasted(runnable: Definition<'_>, asking: Asking<'_>) -> Result<PlanReport, Failure> {
    let project = Project::find(Path::new(".")).filter(|it| it.journal_path().exists());
    let journal = match project.map(|it| it.journal()).transpose() {
        // A run would set it aside.
        Err(error) if error.is_damage() => None,
        opened => opened?,
    };
    Ok(forecast(runnable, asking, journal.as_ref())?)
}
