//! Files that agents left: key outputs, by their place in the record of the run. No path of an address is opened.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use http::StatusCode;
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
    let output = evidence.get("output_artifacts").and_then(Val::as_list).and_then(|it| it.get(route.ix as usize));
    let output = output.ok_or_else(|| absent("the agent left no such file"))?;
    let place = work.shared.library.root().and_then(|root| view.agent_directory(&evidence, root));
    let file = place.zip(relative(output)).map(|(place, path)| (place.clone(), place.join(path)));
    let (place, file) = file.ok_or_else(|| absent("the file is not stored with this run"))?;
    let bytes = read(&place, &file).ok_or_else(|| absent("the file is not there any more"))?;
    Ok(Answer::new(StatusCode::OK, Kind::Download(name(&file)), bytes))
}

/// Where a file is below the directory of its run; nothing for one that is elsewhere.
fn relative(output: &Value) -> Option<PathBuf> {
    let uri = output.get("uri")?.as_str()?.strip_prefix("file:")?;
    let path = PathBuf::from(percent::of_segment(uri)?);
    let is_plain = path.components().all(|it| matches!(it, Component::Normal(_)));
    (is_plain && !path.as_os_str().is_empty()).then_some(path)
}

/// The bytes of a file, unless it or a directory on the way to it is a link.
fn read(place: &Path, path: &Path) -> Option<Vec<u8>> {
    let mut at = place.to_owned();
    for part in path.strip_prefix(place).ok()?.components() {
        at.push(part);
        if std::fs::symlink_metadata(&at).ok()?.file_type().is_symlink() {
            return None;
        }
    }
    let file = File::open(path).ok()?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut bytes = Vec::new();
    (length <= MOST_BYTES).then(|| file.take(MOST_BYTES).read_to_end(&mut bytes).ok())??;
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
        assert_eq!(read(&place, &place.join("own")), Some(b"own".to_vec()));
        assert_eq!(read(&place, &place.join("link")), None);
        assert_eq!(read(&place, &place), None);
    }
}
