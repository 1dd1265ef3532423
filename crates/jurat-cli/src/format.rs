//! How commands print: for people, or for programs.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU8, Ordering};

use clap::{Args, ValueEnum};
use jurat_report::Style;

/// The option that every command has.
#[derive(Args, Clone, Copy)]
pub(crate) struct FormatOption {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
}

/// A format for what has a graph.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraphFormat {
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

impl FormatOption {
    pub(crate) fn get(self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// When output is coloured.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What `--color` said. Every command prints, and none of them does it twice, so it is set once for the process.
static COLOR: AtomicU8 = AtomicU8::new(Color::Auto as u8);

/// Sets when output is coloured.
pub(crate) fn set_color(color: Color) {
    COLOR.store(color as u8, Ordering::Relaxed);
}

/// Whether a stream gets colour.
pub(crate) fn style(stream: &impl IsTerminal) -> Style {
    let chosen = [Color::Auto, Color::Always, Color::Never];
    let chosen = chosen.into_iter().find(|it| *it as u8 == COLOR.load(Ordering::Relaxed)).unwrap_or_default();
    styled(chosen, stream.is_terminal(), &|name| std::env::var_os(name))
}

/// Whether the terminal understands more than plain lines.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|it| it == "dumb")
}

/// `--color` first, then `NO_COLOR`, `CLICOLOR_FORCE`, and what the terminal can do.
fn styled(chosen: Color, is_terminal: bool, env: &dyn Fn(&str) -> Option<OsString>) -> Style {
    let is_set = |name: &str| env(name).is_some_and(|it| !it.is_empty());
    let is_forced = || env("CLICOLOR_FORCE").is_some_and(|it| !it.is_empty() && it != "0");
    let is_coloured = match chosen {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if is_set("NO_COLOR") => false,
        Color::Auto if is_forced() => true,
        Color::Auto => is_terminal && env("TERM").is_none_or(|it| it != "dumb"),
    };
    if is_coloured { Style::Colour } else { Style::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn coloured(chosen: Color, is_terminal: bool, variables: &[(&str, &str)], expected: bool) {
        let env = |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).into());
        assert_eq!(styled(chosen, is_terminal, &env) == Style::Colour, expected, "{chosen:?} {variables:?}");
    }

    #[test]
    fn the_option_comes_first_then_the_environment_then_the_terminal() {
        coloured(Color::Auto, true, &[], true);
        coloured(Color::Auto, false, &[], false);
        coloured(Color::Auto, true, &[("TERM", "dumb")], false);
        coloured(Color::Auto, true, &[("TERM", "xterm")], true);
        coloured(Color::Auto, true, &[("NO_COLOR", "1")], false);
        coloured(Color::Auto, true, &[("NO_COLOR", "")], true);
        coloured(Color::Auto, false, &[("CLICOLOR_FORCE", "1")], true);
        coloured(Color::Auto, false, &[("CLICOLOR_FORCE", "0")], false);
        coloured(Color::Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false);
        coloured(Color::Always, false, &[("NO_COLOR", "1")], true);
        coloured(Color::Never, true, &[("CLICOLOR_FORCE", "1")], false);
    }
}
