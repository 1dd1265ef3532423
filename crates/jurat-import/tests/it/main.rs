//! Files in, files out.

mod hostile;
mod kinds;
mod large;
mod losses;
mod traces;

use std::path::PathBuf;

use jurat_format::value::{Value, parse_json};
use jurat_import::{ImportError, Imported, Input, NoFolder, Options, import};

fn sample(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/import");
    std::fs::read(root.join(name)).expect("the sample is there")
}

fn imported(files: &[(&str, Vec<u8>)], options: &Options) -> Result<Imported, ImportError> {
    let inputs = files.iter().map(|(name, bytes)| Input::new(*name, bytes.clone()));
    import(&inputs.collect::<Result<Vec<_>, _>>()?, None, &NoFolder, options)
}

/// The lines of a file that was made.
#[track_caller]
fn lines(imported: &Imported, name: &str) -> Vec<Value> {
    let file = imported.files.iter().find(|it| it.name == name).expect("the file was made");
    let text = file.text().expect("the rows are there");
    text.lines().map(|it| parse_json(it).expect("JSON").value.into_owned()).collect()
}
