//! `jurat plan`: what a run would do, before it does it.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use jurat::RunOptions;
use jurat::power::PowerOptions;
use jurat_report::plan::{write_dot, write_json, write_mermaid, write_svg, write_text};
use jurat_report::power::{write_power, write_power_json};

use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::failure::{Failure, exit, print_problems};
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
    #[command(flatten, next_help_heading = "Power")]
    power: PowerArguments,
    /// Output format
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// How many rows a question needs
#[derive(Args)]
struct PowerArguments {
    /// Instead, print how many rows a difference or the conditions of `gates` need, and what the rows at hand could show; the value is the probability of showing what is there
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.8")]
    power: Option<f64>,
    /// The difference to be shown, in points [default: the conditions of `gates`]
    #[arg(long, value_name = "POINTS", requires = "power")]
    effect: Option<f64>,
    /// The share of cases that pass [default: that of `--from`, else 0.8]
    #[arg(long, value_name = "SHARE", requires = "power")]
    rate: Option<f64>,
    /// The share of cases on which two runs end differently [default: that of `--from`, else assumed from the rate]
    #[arg(long, value_name = "SHARE", requires = "power")]
    discordance: Option<f64>,
    /// One run, or two that differ as the change will; separate them by a comma
    #[arg(long, value_name = "RUN", value_delimiter = ',', num_args = 1..=2, requires = "power")]
    from: Vec<String>,
    /// The confidence of the test
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "power")]
    confidence: f64,
}

impl PowerArguments {
    fn options(&self, power: f64) -> PowerOptions {
        let Self { effect, rate, discordance, from, confidence, .. } = self;
        PowerOptions {
            effect: effect.map(|it| it / 100.0),
            rate: *rate,
            discordance: *discordance,
            from: from.clone(),
            confidence: *confidence,
            power,
        }
    }
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
        print_problems(&problems)?;
        if problems.has_errors() {
            return Err(Failure::Printed);
        }
        for note in checked.notes(&options)? {
            writeln!(io::stderr(), "{}", jurat_report::visible_line(&note.to_string()))?;
        }
        let suite = checked.into_suite()?;
        let format = if self.json { GraphFormat::Json } else { self.format };
        if let Some(power) = self.power.power {
            return self.power(&suite, &options, power, format);
        }
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
    /// Prints what rows could show.
    fn power(
        &self,
        suite: &jurat::Suite,
        options: &RunOptions,
        power: f64,
        format: GraphFormat,
    ) -> Result<Exit, Failure> {
        let report = suite.power(options, &self.power.options(power))?;
        let mut out = BufWriter::new(io::stdout().lock());
        match format {
            GraphFormat::Text => write_power(&mut out, &report, style(&io::stdout()), window())?,
            GraphFormat::Json => write_power_json(&mut out, &report)?,
            GraphFormat::Mermaid | GraphFormat::Dot | GraphFormat::Svg => {
                return Err(Failure::Reason("`--power` prints text or JSON; leave `--format` out".to_owned()));
            }
        }
        out.flush()?;
        Ok(Exit::Good)
    }
}
