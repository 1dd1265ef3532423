//! What a run is asked for with: who plays which role, and which cases are run.

use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;
use jurat_compare::expression::Expression;
use jurat_engine::Selection;
use jurat_model::dotenv::Environment;

use crate::count::{count, repetitions};

/// The options that decide whom a run asks about what.
#[derive(Args)]
pub(crate) struct AskingOptions {
    /// Model of a role, as `role=provider/model`; may be repeated
    #[arg(long = "model", value_name = "ROLE=MODEL", value_parser = role_and_model)]
    pub(crate) models: Vec<(String, String)>,
    /// Take at most N rows
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Which cases")]
    pub(crate) limit: Option<u64>,
    /// Take the rows for which this CEL expression is true; it may use their fields, `row`, `id` and `tags`
    #[arg(long, value_name = "CEL", help_heading = "Which cases")]
    pub(crate) filter: Option<String>,
    /// Take the rows with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG", help_heading = "Which cases")]
    pub(crate) tags: Vec<String>,
    /// Number of times to run each case
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = repetitions, allow_negative_numbers = true, help_heading = "Which cases")]
    pub(crate) repeat: u32,
}

impl AskingOptions {
    /// Which rows are taken.
    pub(crate) fn selection(&self) -> Result<Selection, String> {
        let filter = self.filter.as_deref().map(Expression::compile_condition).transpose();
        let filter = filter.map_err(|error| format!("`--filter`: {error}"))?;
        Ok(Selection { limit: self.limit, filter, tags: self.tags.clone(), rerun: None })
    }
}

pub(crate) fn role_and_model(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, model)) if !role.is_empty() && model.contains('/') => Ok((role.to_owned(), model.to_owned())),
        _ => Err("write `role=provider/model`, for example `judge=script/replies.jsonl`".to_owned()),
    }
}

/// Variables of the process, and those of the `.env` files of a suite.
pub(crate) fn environment(suite: &Path) -> Result<Environment, String> {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Environment::find(variables, Some(suite), Path::new(".")).map_err(|error| error.to_string())
}

/// Prints what `.env` files hold and is not used.
pub(crate) fn print_notes(environment: &Environment) {
    for note in environment.notes() {
        let _ = writeln!(io::stderr(), "warning: {}", jurat_report::visible_line(&note));
    }
}
