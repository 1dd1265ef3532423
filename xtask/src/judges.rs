//! `cargo xtask judges`: how far a model agrees with the labelled sets of the ready judges.
//!
//! It does what a user would: ejects a judge, runs its set with `jurat run` and compares the verdicts with the labels by `jurat calibrate`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::program;
use serde_json::Value;

pub(crate) const CHORE: Chore = Chore {
    name: "judges",
    arguments: "PROVIDER/MODEL [--base-url URL] [--key-env NAME] [--max-tokens N] [--write] [NAME]...",
    about: "runs the labelled sets of the ready judges with a model and prints its agreement with the labels\n\
            NAME         only these judges; default: all\n\
            --base-url   the address of the model's endpoint\n\
            --key-env    the variable with its key\n\
            --write      adds the figures to crates/jurat-core/judges/agreement.md; `cargo xtask generate` puts them on the page",
    run,
};

const PAGE: &str = "crates/jurat-core/judges/agreement.md";

/// A model as a suite names it.
struct Model {
    name: String,
    base_url: Option<String>,
    key_env: Option<String>,
    max_tokens: u64,
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let base_url = arguments.text("--base-url")?;
    let key_env = arguments.text("--key-env")?;
    let max_tokens = arguments.number("--max-tokens")?.unwrap_or(1000);
    let is_written = arguments.flag("--write");
    let name = arguments.word().ok_or_else(|| Failure::Usage("no model was named".to_owned()))?;
    let model = Model { name, base_url, key_env, max_tokens };
    let jurat = program::built(program::cargo_as_tested().args(["--quiet", "--bin", "jurat"]))?;
    let known = names(&jurat)?;
    let wanted = arguments.words();
    if let Some(unknown) = wanted.iter().find(|it| !known.contains(it)) {
        return Err(Failure::Usage(format!("there is no ready judge `{unknown}`; there are {}", known.join(", "))));
    }
    let wanted = if wanted.is_empty() { known } else { wanted };
    let mut rows = String::new();
    for name in &wanted {
        let row = measured(&jurat, &model, name)?;
        println!("{row}");
        let _ = writeln!(rows, "{row}");
    }
    if is_written { added(&rows) } else { Ok(()) }
}

fn names(jurat: &Path) -> Result<Vec<String>, Failure> {
    let listed: Value = json(&program::output(Command::new(jurat).args(["judges", "--json"]))?)?;
    let names = listed.as_array().into_iter().flatten().filter_map(|it| Some(it["name"].as_str()?.to_owned()));
    Ok(names.collect())
}

fn json(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("jurat wrote no JSON: {error}")))
}

/// The figures of one judge, as a row of a table.
fn measured(jurat: &Path, model: &Model, name: &str) -> Result<String, Failure> {
    let folder = folder(name)?;
    let cannot = |error| Failure::new(format!("cannot write to {}: {error}", folder.display()));
    program::output(Command::new(jurat).args(["judges", "eject", name, "-o", "."]).current_dir(&folder))?;
    fs::write(folder.join("suite.yaml"), suite(model, name)).map_err(cannot)?;
    // A suite with failures ends with 1, which is what is measured here.
    let ran = Command::new(jurat)
        .args(["run", "suite.yaml", "--quiet", "--keep-going"])
        .current_dir(&folder)
        .output()
        .map_err(cannot)?;
    let set = format!("{name}.jsonl");
    let calibrated = Command::new(jurat)
        .args(["calibrate", "--labels", &set, "--json"])
        .current_dir(&folder)
        .output()
        .map_err(cannot)?;
    if !calibrated.status.success() {
        let (one, other) = (String::from_utf8_lossy(&ran.stderr), String::from_utf8_lossy(&calibrated.stderr));
        return Err(Failure::new(format!("`{name}` could not be measured:\n{one}{other}")));
    }
    let figures = json(&String::from_utf8_lossy(&calibrated.stdout))?;
    let n_cases = fs::read_to_string(folder.join(&set)).map_err(cannot)?.lines().count();
    Ok(row(model, name, n_cases, &figures))
}

fn folder(name: &str) -> Result<PathBuf, Failure> {
    let folder = program::target_directory().join("judges").join(name);
    let made = if folder.exists() { fs::remove_dir_all(&folder) } else { Ok(()) };
    made.and_then(|()| fs::create_dir_all(&folder))
        .map_err(|error| Failure::new(format!("cannot prepare {}: {error}", folder.display())))?;
    Ok(folder)
}

fn suite(model: &Model, name: &str) -> String {
    let mut settings = format!("model: \"{}\", temperature: 0, max_tokens: {}", model.name, model.max_tokens);
    for (key, value) in [("base_url", &model.base_url), ("api_key_env", &model.key_env)] {
        if let Some(value) = value {
            let _ = write!(settings, ", {key}: \"{value}\"");
        }
    }
    format!(
        "suite: agreement-{name}\nmodels: {{ judge: {{ {settings} }} }}\nrecords: {{ path: {name}.jsonl, id: case }}\n\
         tasks: [{{ id: judged, judge: {{ use: {name} }} }}]\n"
    )
}

fn row(model: &Model, name: &str, n_cases: usize, figures: &Value) -> String {
    let percent = |key: &str| {
        let part = |value: &Value| value.as_f64().map(|it| format!("{:.1}", 100.0 * it));
        let (figure, interval) = (&figures[key]["value"], &figures[key]["interval"]);
        match (part(figure), part(&interval["low"]), part(&interval["high"])) {
            (Some(value), Some(low), Some(high)) => format!("{value} % ({low}–{high} %)"),
            _ => "–".to_owned(),
        }
    };
    let judged = figures["n"].as_u64().map_or_else(|| "–".to_owned(), |it| it.to_string());
    format!(
        "| `{}` | `{name}` | {n_cases} | {judged} | {} | {} | {} |",
        model.name,
        percent("agreement"),
        percent("sensitivity"),
        percent("specificity")
    )
}

/// Adds rows to the page of figures; a row of the same model and judge is replaced.
fn added(rows: &str) -> Result<(), Failure> {
    let path = program::root().join(PAGE);
    let cannot = |error| Failure::new(format!("`{PAGE}` cannot be written: {error}"));
    let text = fs::read_to_string(&path).map_err(cannot)?;
    let start = |row: &str| row.split('|').take(3).collect::<Vec<_>>().join("|");
    let replaced = |line: &str| line.starts_with("| `") && rows.lines().any(|it| start(it) == start(line));
    let others: String = text.lines().filter(|it| !replaced(it)).map(|it| format!("{it}\n")).collect();
    fs::write(&path, others + rows).map_err(cannot)
}
