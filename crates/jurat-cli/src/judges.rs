//! `jurat judges`: the judges that come with the program, printed, and copied into a project.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jurat_core::judge::{READY, Ready};
use jurat_core::suite::{JudgeFile, JudgeInput};
use jurat_format::problem::{listed, listed_all, nearest};
use jurat_format::value::{Map, Val, Value};
use jurat_report::visible_line;

use crate::exit::Exit;
use crate::format::{Format, FormatOption};

/// Lists the ready judges, prints one, or copies one into the project
///
/// A suite uses a ready judge by its name: `judge: { use: faithfulness }`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Judges {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Subcommand)]
enum What {
    Show(Show),
    Eject(Eject),
}

/// Prints the definition of a ready judge, or its labelled set
#[derive(Args)]
struct Show {
    /// Name of the judge
    name: String,
    /// Print the labelled set (JSON lines) instead
    #[arg(long)]
    cases: bool,
}

/// Writes a ready judge and its labelled set into files, to be edited and used as `judge: { use: { file: … } }`
///
/// Existing files are never overwritten: when one of the files exists, nothing is written.
#[derive(Args)]
struct Eject {
    /// Name of the judge
    name: String,
    /// Directory to write to; created if it does not exist
    #[arg(short, long, value_name = "DIR", default_value = "judges")]
    output: PathBuf,
}

impl Judges {
    pub(crate) fn run(&self) -> Exit {
        let done = match &self.what {
            None => {
                // A reader that goes away early, such as `head`, is no failure of ours.
                let _ = list(self.format.get() == Format::Json);
                Ok(())
            }
            Some(What::Show(show)) => show.print(),
            Some(What::Eject(eject)) => eject.write(),
        };
        match done {
            Ok(()) => Exit::Good,
            Err(message) => {
                let _ = writeln!(io::stderr(), "error: {}", visible_line(&message));
                Exit::Wrong
            }
        }
    }
}

fn list(is_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_json {
        let judges: Value = READY.iter().map(entry).collect();
        return writeln!(out, "{}", jurat_report::pretty_json(&judges));
    }
    let width = READY.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for judge in READY {
        writeln!(out, "{:width$}  {}", judge.name, file(judge).description)?;
    }
    writeln!(out, "\n`jurat judges show NAME` prints one; a suite uses it with `judge: {{ use: NAME }}`")
}

fn file(judge: &Ready) -> JudgeFile {
    JudgeFile::ready(judge).expect("a test reads every ready judge")
}

fn entry(judge: &Ready) -> Value {
    let file = file(judge);
    let input = |it: &JudgeInput| {
        let members = [
            ("name", Val::from(it.name.clone())),
            ("about", Val::from(it.about.clone())),
            ("required", Val::Bool(it.default.is_none())),
            ("from", it.from.iter().map(|it| Val::from(it.to_string())).collect()),
        ];
        Val::Map(members.into_iter().collect::<Map<'static>>())
    };
    let members = [
        ("name", Val::from(judge.name)),
        ("description", Val::from(file.description.clone())),
        ("inputs", file.inputs.iter().map(input).collect()),
        ("n_questions", Val::I(file.steps.len() as i64)),
        ("n_cases", Val::I(judge.cases.lines().count() as i64)),
    ];
    Val::Map(members.into_iter().collect::<Map<'static>>())
}

fn find(name: &str) -> Result<&'static Ready, String> {
    let names = || READY.iter().map(|it| it.name);
    Ready::find(name).ok_or_else(|| match nearest(name, names()) {
        Some(near) => format!("there is no ready judge `{name}`; did you mean `{near}`?"),
        None => format!("there is no ready judge `{name}`; there are {}", listed(names())),
    })
}

impl Show {
    fn print(&self) -> Result<(), String> {
        let judge = find(&self.name)?;
        let text = if self.cases { judge.cases } else { judge.definition };
        let _ = io::stdout().lock().write_all(text.as_bytes());
        Ok(())
    }
}

impl Eject {
    fn write(&self) -> Result<(), String> {
        let judge = find(&self.name)?;
        let files = [(format!("{}.yaml", self.name), judge.definition), (format!("{}.jsonl", self.name), judge.cases)];
        let there: Vec<&str> = files.iter().map(|it| it.0.as_str()).filter(|it| self.is_there(it)).collect();
        if !there.is_empty() {
            let place = self.output.display();
            return Err(format!("{} exists in `{place}` already, and nothing was written", listed_all(there)));
        }
        let failed = |path: &Path, error: &io::Error| format!("`{}` cannot be written: {error}", path.display());
        fs::create_dir_all(&self.output).map_err(|error| failed(&self.output, &error))?;
        for (name, text) in &files {
            let path = self.output.join(name);
            let file = OpenOptions::new().write(true).create_new(true).open(&path);
            file.and_then(|mut it| it.write_all(text.as_bytes())).map_err(|error| failed(&path, &error))?;
        }
        let (definition, cases) = (self.output.join(&files[0].0), self.output.join(&files[1].0));
        let _ = writeln!(
            io::stdout(),
            "wrote `{}` and its labelled set `{}`\nuse it with `judge: {{ use: {{ file: {} }} }}`",
            definition.display(),
            cases.display(),
            definition.display()
        );
        Ok(())
    }

    /// A link that leads nowhere is there too.
    fn is_there(&self, name: &str) -> bool {
        fs::symlink_metadata(self.output.join(name)).is_ok()
    }
}
