//! `jurat init`: a suite that works, to start from.
//!
//! The files are in `templates/`, one folder for each kind of suite. What is there already is never overwritten.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jurat_format::problem::listed_all;
use jurat_format::value::{Map, Val, Value};
use jurat_report::visible_line;

use crate::exit::Exit;
use crate::format::{Format, FormatOption};

/// Writes a small suite that runs at once, without a network and without a key
///
/// Existing files are never overwritten: when one of the files exists, nothing is written.
#[derive(Args)]
pub(crate) struct Init {
    /// Directory to write to; created if it does not exist
    #[arg(default_value = ".")]
    directory: PathBuf,
    /// What the suite evaluates
    #[arg(long, value_enum, default_value_t = Kind::Records)]
    kind: Kind,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Answers that were recorded earlier
    Records,
    /// Answers of a model, asked by the run
    Ask,
    /// Conversations with a model
    Scenarios,
    /// Answers that your own code evaluates
    Evaluators,
}

/// A file and what is in it.
type Template = (&'static str, &'static str);

impl Kind {
    fn templates(self) -> &'static [Template] {
        match self {
            Kind::Records => &[
                ("jurat.yaml", include_str!("../templates/records/jurat.yaml")),
                ("records.jsonl", include_str!("../templates/records/records.jsonl")),
                ("replies.jsonl", include_str!("../templates/records/replies.jsonl")),
            ],
            Kind::Ask => &[
                ("jurat.yaml", include_str!("../templates/ask/jurat.yaml")),
                ("records.jsonl", include_str!("../templates/ask/records.jsonl")),
                ("answers.jsonl", include_str!("../templates/ask/answers.jsonl")),
                ("replies.jsonl", include_str!("../templates/ask/replies.jsonl")),
            ],
            Kind::Scenarios => &[
                ("jurat.yaml", include_str!("../templates/scenarios/jurat.yaml")),
                ("answers.jsonl", include_str!("../templates/scenarios/answers.jsonl")),
                ("replies.jsonl", include_str!("../templates/scenarios/replies.jsonl")),
            ],
            Kind::Evaluators => &[
                ("jurat.yaml", include_str!("../templates/evaluators/jurat.yaml")),
                ("records.jsonl", include_str!("../templates/evaluators/records.jsonl")),
                ("length.py", include_str!("../templates/evaluators/length.py")),
                ("warmth.ts", include_str!("../templates/evaluators/warmth.ts")),
            ],
        }
    }

    /// What to do once the example has been seen.
    fn then(self) -> &'static str {
        match self {
            Kind::Records | Kind::Ask => "then put your own rows into records.jsonl and your own tasks into jurat.yaml",
            Kind::Evaluators => "then put your own rows into records.jsonl and your own code beside it",
            Kind::Scenarios => "then put your own questions and outcomes into jurat.yaml",
        }
    }
}

impl Init {
    pub(crate) fn run(&self) -> Exit {
        match self.write() {
            Ok(()) => {
                // The files are there; a reader that goes away early changes nothing about that.
                let _ = self.print();
                Exit::Good
            }
            Err(message) => {
                let _ = writeln!(io::stderr(), "error: {}", visible_line(&message));
                Exit::Wrong
            }
        }
    }

    fn write(&self) -> Result<(), String> {
        let templates = self.kind.templates();
        // A link that leads nowhere is there too.
        let is_there = |(name, _): &&Template| fs::symlink_metadata(self.path_of(name)).is_ok();
        let there: Vec<&str> = templates.iter().filter(is_there).map(|(name, _)| *name).collect();
        if !there.is_empty() {
            let (are, them) = if there.len() == 1 { ("is", "it") } else { ("are", "them") };
            let place = if self.is_here() { "here".to_owned() } else { format!("in `{}`", self.directory.display()) };
            return Err(format!(
                "{} {are} {place} already, and nothing was written; move {them} away, or name another directory: \
                 `jurat init DIR`",
                listed_all(there)
            ));
        }
        let failed = |path: &Path, error: &io::Error| format!("`{}` cannot be written: {error}", path.display());
        fs::create_dir_all(&self.directory).map_err(|error| failed(&self.directory, &error))?;
        for (name, text) in templates {
            let path = self.path_of(name);
            let file = OpenOptions::new().write(true).create_new(true).open(&path);
            file.and_then(|mut it| it.write_all(text.as_bytes())).map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }

    fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let templates = self.kind.templates();
        if self.format.get() == Format::Json {
            let path = |(name, _): &Template| Val::from(self.path_of(name).display().to_string());
            let files: Value = templates.iter().map(path).collect();
            let members: Map<'static> = [("version", Val::I(1)), ("files", files)].into_iter().collect();
            return writeln!(out, "{}", Val::Map(members).to_json());
        }
        for (name, _) in templates {
            writeln!(out, "wrote {}", visible_line(&self.path_of(name).display().to_string()))?;
        }
        writeln!(out, "\nnext:")?;
        if !self.is_here() {
            writeln!(out, "  cd {}", visible_line(&self.directory.display().to_string()))?;
        }
        writeln!(out, "  jurat check          says what is wrong with the suite, before anything runs")?;
        writeln!(out, "  jurat run --tasks    judges every case, and says why")?;
        writeln!(out, "{}", self.kind.then())
    }

    fn path_of(&self, name: &str) -> PathBuf {
        if self.is_here() { PathBuf::from(name) } else { self.directory.join(name) }
    }

    fn is_here(&self) -> bool {
        self.directory == Path::new(".")
    }
}
