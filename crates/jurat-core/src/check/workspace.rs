//! The files of a run's workspace: as the run recorded them, or as its output artifacts lead to them.

use std::borrow::Cow;

use jurat_compare::Inapplicable;
use jurat_format::value::{Map, Val, shown};

use super::decision::cannot_tell;
use super::uri::{uri_path, written_path};
use super::{Base, Look, MOST_TEXT, Seen, Wants};

/// A path with `/` between its names and none at its beginning.
pub(super) fn plain_path(path: &str) -> String {
    path.replace('\\', "/").trim_start_matches('/').to_owned()
}

/// The output artifacts of a run.
pub(super) fn references<'e>(evidence: &'e Val<'e>) -> &'e [Val<'e>] {
    evidence.get("output_artifacts").and_then(Val::as_list).unwrap_or(&[])
}

/// What is to be looked at to know where a reference leads. A URI is decoded; programs that do not decode wrote the name as it is.
pub(super) fn looks_of(reference: &Val<'_>, most: u64) -> Vec<Look> {
    let uri = reference.get("uri").and_then(Val::as_str).unwrap_or_default();
    let (Some(decoded), Some(written)) = (uri_path(uri), written_path(uri)) else { return Vec::new() };
    let mut paths = vec![decoded];
    if paths[0] != written {
        paths.push(written.to_owned());
    }
    paths.into_iter().map(|path| Look { path, base: Base::Run, wants: Wants::Text(most) }).collect()
}

/// The references with what was seen of each: the first look that found a file, else the first.
pub(super) fn seen_of<'e, 's>(
    references: &[&'e Val<'e>],
    most: u64,
    seen: &'s [Seen],
) -> Vec<(&'e Val<'e>, Option<&'s Seen>)> {
    let mut at = 0;
    let mut one = |reference: &&'e Val<'e>| {
        let n_looks = looks_of(reference, most).len();
        let own = seen.get(at..at + n_looks).unwrap_or(&[]);
        at += n_looks;
        (*reference, own.iter().find(|it| it.file().is_some()).or(own.first()))
    };
    references.iter().map(&mut one).collect()
}

/// Whether a reference is this file of the workspace.
pub(super) fn is_file(reference: &Val<'_>, seen: Option<&Seen>, relative_path: &str) -> bool {
    let recorded = reference.get("metadata").and_then(|it| it.get("workspace_relative_path")).and_then(Val::as_str);
    if recorded.is_some_and(|it| plain_path(it) == relative_path) {
        return true;
    }
    let Some(file) = seen.and_then(Seen::file) else { return false };
    let base_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    // A stored copy is called `<artifact>--<name>`; where it stood is not known then, and the name has to do.
    let is_copy = recorded.is_none()
        && base_name(&file.path).split_once("--").is_some_and(|(_, name)| name == base_name(relative_path));
    ends_with(&file.path, relative_path) || is_copy
}

/// Whether a path ends with another, by whole names: `old/report.md` ends with `report.md`, and `old-report.md` does not.
pub(super) fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// The text of a file as far as it was read; what could not be read has none.
pub(super) fn text(seen: Option<&Seen>) -> &str {
    seen.and_then(Seen::file).and_then(|it| it.text.as_deref()).unwrap_or_default()
}

/// A file of the workspace.
#[derive(Debug)]
pub(super) enum Found<'f> {
    /// It is there, with its text where that is known.
    File {
        text: Option<Cow<'f, str>>,
        is_cut: bool,
    },
    Directory,
    /// A device, a socket.
    Other,
    /// It is not there.
    Nothing,
    /// A link is there that is not followed, in words.
    Link(String),
    /// The run does not say.
    Unknown(String),
}

/// What must be looked at to know a file of the workspace: nothing, where the run recorded its workspace.
pub(super) fn looks(evidence: &Val<'_>, path: &str) -> Vec<Look> {
    match files(evidence) {
        Some(_) => Vec::new(),
        None => candidates(evidence, path).into_iter().flat_map(|it| looks_of(it, MOST_TEXT)).collect(),
    }
}

/// What a run recorded of a file of its workspace.
pub(super) fn find<'f>(evidence: &'f Val<'f>, path: &str, seen: &'f [Seen]) -> Found<'f> {
    if let Some(files) = files(evidence) {
        let path = match behind_links(files, path) {
            Ok(path) => path,
            Err(link) => return Found::Link(link),
        };
        let Some(file) = files.get(&path).filter(|_| !path.is_empty()) else {
            if path.is_empty() {
                return Found::Directory;
            }
            let is_below = |it: &str| it.strip_prefix(&*path).is_some_and(|rest| rest.starts_with('/'));
            return if files.keys().any(is_below) { Found::Directory } else { Found::Nothing };
        };
        let text = file.get("text").and_then(Val::as_str).map(Cow::Borrowed);
        let is_cut = file.get("is_cut") == Some(&Val::Bool(true));
        return match file.get("kind").and_then(Val::as_str) {
            None | Some("file") => Found::File { text, is_cut },
            Some("directory") => Found::Directory,
            Some(_) => Found::Nothing,
        };
    }
    let candidates = candidates(evidence, path);
    for (reference, seen) in seen_of(&candidates, MOST_TEXT, seen) {
        match seen {
            Some(Seen::File(file)) => {
                return Found::File { text: file.text.as_deref().map(Cow::Borrowed), is_cut: file.is_cut };
            }
            Some(Seen::Outside) => {
                return Found::Unknown(leads_out(reference));
            }
            _ => {}
        }
    }
    match candidates.is_empty() {
        true => Found::Unknown(format!(
            "the run did not record what was in its workspace, and no output artifact is `{path}`"
        )),
        false => Found::Nothing,
    }
}

/// What lies outside was not looked at, so it is not known what is there.
pub(super) fn outside(seen: &[(&Val<'_>, Option<&Seen>)]) -> Result<(), Inapplicable> {
    match seen.iter().find(|(_, seen)| matches!(seen, Some(Seen::Outside))) {
        Some((reference, _)) => Err(cannot_tell(leads_out(reference))),
        None => Ok(()),
    }
}

fn leads_out(reference: &Val<'_>) -> String {
    let uri = shown(reference.get("uri").unwrap_or(&Val::Null));
    format!("{uri} leads out of the run's directory, so jurat does not look there")
}

/// The name of the runner that a run was made by.
pub(super) fn runner<'e>(evidence: &'e Val<'e>) -> &'e str {
    evidence.get("identity").and_then(|it| it.get("runner_type")).and_then(Val::as_str).unwrap_or_default()
}

/// Where a path leads when links within the workspace are followed; or what is said of a link that is not.
fn behind_links(files: &Map<'_>, path: &str) -> Result<String, String> {
    let mut at = String::with_capacity(path.len());
    for name in path.split('/') {
        if !at.is_empty() {
            at.push('/');
        }
        at.push_str(name);
        let Some(link) = files.get(&at).filter(|it| it.get("kind").and_then(Val::as_str) == Some("link")) else {
            continue;
        };
        let target = link.get("target").and_then(Val::as_str).map(|it| format!(" to `{it}`")).unwrap_or_default();
        match link.get("leads_to").and_then(Val::as_str) {
            Some(leads_to) => at = leads_to.to_owned(),
            None if link.get("leads_out").is_some() => {
                return Err(format!("`{at}`, a link{target}, which leads out of the workspace and is not followed"));
            }
            None => return Err(format!("`{at}`, a link{target} that leads to nothing")),
        }
    }
    Ok(at)
}

/// Every file of the workspace after the run, where it was recorded.
fn files<'e>(evidence: &'e Val<'e>) -> Option<&'e Map<'e>> {
    evidence.get("workspace")?.get("files")?.as_map()
}

/// Whether a stored file may be a copy of one with this name.
fn may_be_named(path: &str, name: &str) -> bool {
    let own = path.rsplit('/').next().unwrap_or_default();
    own == name || own.split_once("--").is_some_and(|(_, it)| it == name)
}

/// The output artifacts that may be a file of the workspace.
fn candidates<'e>(evidence: &'e Val<'e>, path: &str) -> Vec<&'e Val<'e>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let may_be = |it: &&Val<'_>| {
        let recorded = it.get("metadata").and_then(|it| it.get("workspace_relative_path")).and_then(Val::as_str);
        match recorded {
            Some(recorded) => plain_path(recorded) == path,
            None => it.get("uri").and_then(Val::as_str).and_then(uri_path).is_some_and(|it| may_be_named(&it, name)),
        }
    };
    references(evidence).iter().filter(may_be).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_end_by_whole_names() {
        for (path, end, expected) in [
            ("/ws/report.md", "report.md", true),
            ("/ws/report.md", "ws/report.md", true),
            ("report.md", "report.md", true),
            ("/ws/old-report.md", "report.md", false),
            ("/ws/ünï code.txt", "ode.txt", false),
        ] {
            assert_eq!(ends_with(path, end), expected, "{path} {end}");
        }
        assert!(may_be_named("outputs/r1--report.md", "report.md") && !may_be_named("outputs/report.md", "port.md"));
    }
}
