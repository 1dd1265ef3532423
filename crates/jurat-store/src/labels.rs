//! The file that labels of people are added to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use jurat_core::label::Label;

/// Adds labels to the end of a file of JSON lines, which is made when it is not there. The whole of them is written at once under a lock and synced, so
/// that several programs may write one file and none finds half a line.
///
/// ```
/// use jurat_core::label::Label;
/// use jurat_store::append_labels;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("labels.jsonl");
/// let label = Label { case: "r3".into(), label: Some("fail".into()), ..Label::default() };
/// append_labels(&path, &[label.clone()])?;
/// append_labels(&path, &[label])?;
/// assert_eq!(std::fs::read_to_string(&path)?.lines().count(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn append_labels(path: &Path, labels: &[Label]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    file.lock()?;
    let mut text: String = if ends_a_line(&mut file)? { String::new() } else { "\n".to_owned() };
    for label in labels {
        text.push_str(&label.to_json_line());
        text.push('\n');
    }
    file.write_all(text.as_bytes())?;
    file.sync_data()?;
    file.unlock()
}

/// Whether what is added begins a line. Editors leave files whose last line has no end.
fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
