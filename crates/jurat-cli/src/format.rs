//! How commands print: for people, or for programs.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use jurat_report::Style;

/// The option that every command has.
#[derive(Args, Clone, Copy)]
pub(crate) struct FormatOption {
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl FormatOption {
    pub(crate) fn get(self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Colour only on a terminal, and only for those who want it.
pub(crate) fn style(stream: &impl IsTerminal) -> Style {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    if stream.is_terminal() && !unwanted { Style::Colour } else { Style::Plain }
}
