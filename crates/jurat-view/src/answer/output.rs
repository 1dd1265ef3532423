//! Files that agents left: key outputs and logs, by their place in the record of the run. No path of an address is opened.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

use http::StatusCode;
use jurat_engine::view::RunView;
use jurat_format::value::{Val, Value};

use super::case::meant;
use super::{Answer, Failure, Kind, Shown, Work};
use crate::percent;
use crate::route::Output;

/// The largest file that is sent.
const MOST_BYTES: u64 = 256 << 20;

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &Output) -> Result<Answer, Failure> {
    let absent = |reason: &str| Failure::NotFound { reason: reason.to_owned(), meant: Vec::new() };
    let view = shown.view;
    let cases = view.cases_named(&route.id)?;
    let case = meant(view, &cases, &route.variant).ok_or_else(|| absent("the run has no such case"))?;
    let evidence = view.agent_run(case)?.ok_or_else(|| absent("no agent ran in this case"))?;
    let ix = route.ix as usize;
    files(&evidence).nth(ix).ok_or_else(|| absent("the agent left no such file"))?;
    let file = path(work, view, &evidence, ix).ok_or_else(|| absent("the file is not stored with this run"))?;
    let bytes = read(&file).ok_or_else(|| absent("the file no longer exists"))?;
    Ok(Answer::new(StatusCode::OK, Kind::Download(name(&file.path)), bytes))
}

/// The files of an agent as its run names them: key outputs, then logs.
pub(super) fn files(evidence: &Value) -> impl Iterator<Item = &Value> {
    let outputs = evidence.get("output_artifacts");
    let logs = evidence.get("runner_metadata").and_then(|it| it.get("logs"));
    [outputs, logs].into_iter().flatten().filter_map(Val::as_list).flatten()
}

/// A file of an agent, and the directory that it may not be outside of.
#[derive(Debug)]
pub(super) struct AgentFile {
    place: PathBuf,
    path: PathBuf,
}

/// Where a file of an agent is, by its place among [`files`]; nothing for one that is not stored with the run.
pub(super) fn path(work: &Work<'_>, view: &RunView, evidence: &Value, ix: usize) -> Option<AgentFile> {
    let place = view.agent_directory(evidence, work.shared.library.root()?)?;
    let path = place.join(relative(files(evidence).nth(ix)?)?);
    Some(AgentFile { place, path })
}

/// Opens a file, unless it or a directory on the way to it is a link.
pub(super) fn opened(file: &AgentFile) -> Option<BufReader<File>> {
    let mut at = file.place.clone();
    for part in file.path.strip_prefix(&file.place).ok()?.components() {
        at.push(part);
        if std::fs::symlink_metadata(&at).ok()?.file_type().is_symlink() {
            return None;
        }
    }
    let opened = File::open(&file.path).ok()?;
    let is_file = opened.metadata().is_ok_and(|it| it.is_file());
    is_file.then(|| BufReader::new(opened))
}

/// Where a file is below the directory of its run; nothing for one that is elsewhere.
fn relative(output: &Value) -> Option<PathBuf> {
    let uri = output.get("uri")?.as_str()?.strip_prefix("file:")?;
    let path = PathBuf::from(percent::of_segment(uri)?);
    let is_plain = path.components().all(|it| matches!(it, Component::Normal(_)));
    (is_plain && !path.as_os_str().is_empty()).then_some(path)
}

/// The bytes of a file, unless there are too many.
fn read(file: &AgentFile) -> Option<Vec<u8>> {
    let opened = opened(file)?;
    let length = opened.get_ref().metadata().ok()?.len();
    let mut bytes = Vec::new();
    (length <= MOST_BYTES).then(|| opened.take(MOST_BYTES).read_to_end(&mut bytes).ok())??;
    Some(bytes)
}

/// A name that stands in a header as it is.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ".-_ ".contains(it);
    name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    #[track_caller]
    fn found(uri: &str, path: Option<&str>) {
        let text = format!("{{\"uri\": \"{uri}\"}}");
        let output = parse_json(&text).expect("JSON").value.into_owned();
        assert_eq!(relative(&output), path.map(PathBuf::from), "{uri}");
    }

    #[test]
    fn only_files_below_the_directory_of_the_run_are_meant() {
        found("file:outputs/report.md", Some("outputs/report.md"));
        found("file:outputs/a%20b.md", Some("outputs/a b.md"));
        found("file:outputs/../../secret", None);
        found("file:outputs/%2e%2e/%2e%2e/secret", None);
        found("file:/etc/passwd", None);
        found("file:///etc/passwd", None);
        found("https://example.org/x", None);
        found("file:", None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("run");
        std::fs::create_dir(&place).expect("a directory");
        std::fs::write(directory.path().join("secret"), "secret").expect("a file");
        std::fs::write(place.join("own"), "own").expect("a file");
        std::os::unix::fs::symlink("../secret", place.join("link")).expect("a link");
        let read = |path: PathBuf| read(&AgentFile { place: place.clone(), path });
        assert_eq!(read(place.join("own")), Some(b"own".to_vec()));
        assert_eq!(read(place.join("link")), None);
        assert_eq!(read(place.clone()), None);
    }
}
