//! How text is marked for the reader: by meaning, so that nothing else in this crate names a colour.

use annotate_snippets::Renderer;
use annotate_snippets::renderer::{DEFAULT_ERROR_STYLE, DEFAULT_WARNING_STYLE};
use jurat_format::problem::Severity;

/// Whether meanings are shown in colour. The caller knows the terminal and `NO_COLOR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Text alone, for files and pipes.
    #[default]
    Plain,
    /// With ANSI colours.
    Colour,
}

/// What a text says beyond its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Could not be decided.
    Unknown,
    /// The name of what stands below.
    Name,
}

impl Style {
    /// The text, marked with what it means.
    pub(crate) fn meant(self, meaning: Meaning, text: &str) -> String {
        let colour = match meaning {
            Meaning::Good => "32",
            Meaning::Bad => "31",
            Meaning::Unknown => "33",
            Meaning::Name => "1",
        };
        if self == Style::Plain { text.to_owned() } else { format!("\u{1b}[{colour}m{text}\u{1b}[0m") }
    }

    /// What renders problems in this style.
    pub(crate) fn renderer(self) -> Renderer {
        match self {
            Style::Plain => Renderer::plain(),
            Style::Colour => Renderer::styled(),
        }
    }

    /// The text, marked as something this bad.
    pub(crate) fn marked(self, severity: Severity, text: &str) -> String {
        match (self, severity) {
            (Style::Plain, _) => text.to_owned(),
            (Style::Colour, Severity::Error) => format!("{DEFAULT_ERROR_STYLE}{text}{DEFAULT_ERROR_STYLE:#}"),
            (Style::Colour, Severity::Note) => text.to_owned(),
            (Style::Colour, Severity::Warning) => format!("{DEFAULT_WARNING_STYLE}{text}{DEFAULT_WARNING_STYLE:#}"),
        }
    }
}
