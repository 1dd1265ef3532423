//! The workspace of a run: what was in it before, what after, and what that changed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jurat_format::choices;
use jurat_format::value::{Map, Val, Value};

/// Everything that was found in a directory, by its path relative to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walked {
    pub files: BTreeMap<String, WalkedFile>,
    /// Whether there is more than was looked at.
    pub is_cut: bool,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkedFile {
    pub kind: FileKind,
    pub size: u64,
    /// Whether it may be run.
    pub is_executable: bool,
    /// The SHA-256 of what is in it; of a link, its target as it is written. Of a file that was not hashed, what differs between its versions.
    pub digest: String,
    /// Whether what is in it was hashed, when it is a file.
    pub is_hashed: bool,
}

choices! {
    /// What something in a directory is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileKind {
        File = "file",
        Directory = "directory",
        /// A link. It is followed within the directory, and never out of it.
        Link = "link",
        /// Something else: a pipe, a socket.
        Other = "other",
    }
}

/// Where a path leads when its links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// To this path within the directory.
    Inside(String),
    /// To nothing, or in a circle.
    Nowhere,
    /// Out of the directory.
    Outside,
}

/// More links than this are a circle.
const MOST_LINKS: usize = 40;

/// Follows the links on the way of a path. `target` is that of the link at a path, where there is one; `root` is what programs inside call the directory, because they
/// may write targets that begin with it.
pub fn followed(path: &str, root: &str, target: impl Fn(&str) -> Option<String>) -> Followed {
    let mut left: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut at: Vec<String> = Vec::new();
    let mut n_links = 0;
    while let Some(name) = left.pop_front() {
        match name.as_str() {
            "" | "." => continue,
            ".." if at.pop().is_none() => return Followed::Outside,
            ".." => continue,
            _ => at.push(name),
        }
        let Some(target) = target(&at.join("/")) else { continue };
        n_links += 1;
        if n_links > MOST_LINKS {
            return Followed::Nowhere;
        }
        at.pop();
        let relative = match target.strip_prefix('/') {
            None => target.as_str(),
            Some(_) => match below_root(&target, root) {
                Some(relative) => {
                    at.clear();
                    relative
                }
                None => return Followed::Outside,
            },
        };
        for name in relative.split('/').rev() {
            left.push_front(name.to_owned());
        }
    }
    Followed::Inside(at.join("/"))
}

/// What an absolute path is below a directory.
fn below_root<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let root = root.trim_end_matches('/');
    let below = path.strip_prefix(root).filter(|_| !root.is_empty())?;
    (below.is_empty() || below.starts_with('/')).then_some(below)
}

impl Walked {
    fn link(&self, path: &str, root: &str) -> Followed {
        let target =
            |path: &str| self.files.get(path).filter(|it| it.kind == FileKind::Link).map(|it| it.digest.clone());
        match followed(path, root, target) {
            Followed::Inside(at) if !at.is_empty() && !self.files.contains_key(&at) => Followed::Nowhere,
            followed => followed,
        }
    }

    /// A hash of it all: paths, kinds, whether it may be run, where links lead, content. `None` when there is more than was looked at.
    pub fn digest(&self) -> Option<String> {
        if self.is_cut {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        for (path, file) in &self.files {
            add(path);
            add(file.kind.name());
            add(if file.is_executable { "x" } else { "" });
            add(&file.digest);
        }
        Some(hasher.finalize().to_hex().to_string())
    }
}

/// What a run made of its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// What programs inside call it.
    pub root: String,
    /// What was not there before.
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub after: Walked,
    /// The texts that are stored, each with whether there is more of it.
    pub texts: BTreeMap<String, (String, bool)>,
    /// What became of texts that are other now, as unified diffs.
    pub diffs: BTreeMap<String, String>,
}

impl Workspace {
    /// What changed between two looks. Directories count as what is in them; one that is empty counts itself.
    pub fn between(before: &Walked, after: Walked) -> Workspace {
        let counts = |walked: &Walked, path: &str, file: &WalkedFile| {
            file.kind != FileKind::Directory || !has_below(walked, path)
        };
        let mut workspace = Workspace::default();
        for (path, file) in after.files.iter().filter(|(path, file)| counts(&after, path, file)) {
            match before.files.get(path) {
                None => workspace.added.push(path.clone()),
                Some(earlier) if earlier != file => workspace.changed.push(path.clone()),
                Some(_) => {}
            }
        }
        for (path, file) in &before.files {
            if counts(before, path, file) && !after.files.contains_key(path) {
                workspace.removed.push(path.clone());
            }
        }
        workspace.after = after;
        workspace
    }

    /// The files whose texts are stored, in the order in which they are: what is new or other first.
    pub fn worth_reading(&self) -> Vec<&str> {
        let is_file = |path: &&str| self.after.files.get(*path).is_some_and(|it| it.kind == FileKind::File);
        let touched = || self.added.iter().chain(&self.changed).map(String::as_str);
        let known: BTreeSet<&str> = touched().collect();
        let others = self.after.files.keys().map(String::as_str).filter(|it| !known.contains(it));
        touched().chain(others).filter(is_file).collect()
    }

    pub fn to_value(&self) -> Value {
        let list = |paths: &[String]| -> Value { paths.iter().map(|it| Val::from(it.clone())).collect() };
        let file = |(path, file): (&String, &WalkedFile)| {
            let mut members: Map<'static> =
                [("kind", Val::from(file.kind.name())), ("size", Val::from(file.size))].into_iter().collect();
            match file.kind {
                FileKind::File if file.is_hashed => {
                    members.insert("sha256".into(), Val::from(file.digest.clone()));
                }
                FileKind::File => {
                    members.insert("not_hashed".into(), Val::Bool(true));
                }
                FileKind::Link => {
                    members.insert("target".into(), Val::from(file.digest.clone()));
                    match self.after.link(path, &self.root) {
                        Followed::Inside(at) => members.insert("leads_to".into(), Val::from(at)),
                        Followed::Outside => members.insert("leads_out".into(), Val::Bool(true)),
                        Followed::Nowhere => false,
                    };
                }
                FileKind::Directory | FileKind::Other => {}
            }
            if let Some((text, is_cut)) = self.texts.get(path) {
                members.insert("text".into(), Val::from(text.clone()));
                if *is_cut {
                    members.insert("is_cut".into(), Val::Bool(true));
                }
            }
            if let Some(diff) = self.diffs.get(path).filter(|it| !it.is_empty()) {
                members.insert("diff".into(), Val::from(diff.clone()));
            }
            (path.clone(), Val::Map(members))
        };
        let mut members: Map<'static> = [
            ("added", list(&self.added)),
            ("changed", list(&self.changed)),
            ("removed", list(&self.removed)),
            ("files", Val::Map(self.after.files.iter().map(file).collect::<Map<'static>>())),
        ]
        .into_iter()
        .collect();
        if self.after.is_cut {
            members.insert("is_cut".into(), Val::Bool(true));
        }
        Val::Map(members)
    }
}

/// Whether something stands below a directory. Paths are in order, so what is below comes soon after.
fn has_below(walked: &Walked, path: &str) -> bool {
    let prefix = format!("{path}/");
    walked.files.range(prefix.clone()..).next().is_some_and(|(it, _)| it.starts_with(&prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(files: &[(&str, FileKind, &str)]) -> Walked {
        let file = |(path, kind, digest): &(&str, FileKind, &str)| {
            let file = WalkedFile {
                kind: *kind,
                size: 1,
                is_executable: false,
                digest: (*digest).to_owned(),
                is_hashed: *kind == FileKind::File,
            };
            ((*path).to_owned(), file)
        };
        Walked { files: files.iter().map(file).collect(), is_cut: false }
    }

    #[test]
    fn changes_are_found_by_content() {
        use FileKind::{Directory, File, Link};
        let before = walked(&[
            ("a.md", File, "1"),
            ("b.md", File, "2"),
            ("d", Directory, ""),
            ("d/c.md", File, "3"),
            ("gone", Directory, ""),
            ("l", Link, "a.md"),
        ]);
        let after = walked(&[
            ("a.md", File, "1"),
            ("b.md", File, "other"),
            ("d", Directory, ""),
            ("e", Directory, ""),
            ("empty.md", File, ""),
            ("l", Link, "/etc/passwd"),
            ("n", Directory, ""),
            ("n/x.md", File, "4"),
        ]);
        let workspace = Workspace::between(&before, after);
        assert_eq!(workspace.added, ["e", "empty.md", "n/x.md"]);
        assert_eq!(workspace.changed, ["b.md", "l"]);
        assert_eq!(workspace.removed, ["d/c.md", "gone"]);
        assert_eq!(workspace.worth_reading(), ["empty.md", "n/x.md", "b.md", "a.md"]);
    }

    /// Where a link leads is said as the agent would see it.
    #[test]
    fn links_are_described_as_they_lead() {
        use FileKind::{Directory, File, Link};
        let files = [
            ("a.md", File, "1"),
            ("circle", Link, "circle"),
            ("d", Directory, ""),
            ("d/up.md", Link, "../a.md"),
            ("gone", Link, "nothing"),
            ("in", Link, "/workspace/d/up.md"),
            ("out", Link, "/etc/passwd"),
            ("over", Link, "../../a.md"),
            ("other", Link, "/workspaces/a.md"),
        ];
        let root = "/workspace".to_owned();
        let workspace = Workspace { after: walked(&files), root, ..Workspace::default() };
        let value = workspace.to_value();
        let said = |path: &str| {
            let file = value.get("files").and_then(Val::as_map).and_then(|it| it.get(path)).expect("it is there");
            let leads = file.get("leads_to").and_then(Val::as_str).map(str::to_owned);
            leads.unwrap_or_else(|| if file.get("leads_out").is_some() { "out" } else { "nowhere" }.to_owned())
        };
        let paths = ["d/up.md", "in", "circle", "gone", "out", "over", "other"];
        assert_eq!(paths.map(said), ["a.md", "a.md", "nowhere", "nowhere", "out", "out", "out"]);
    }

    #[test]
    fn the_digest_sees_everything_but_sizes() {
        let one = walked(&[("a", FileKind::File, "1")]);
        let digest = one.digest();
        for other in [
            walked(&[("b", FileKind::File, "1")]),
            walked(&[("a", FileKind::Link, "1")]),
            walked(&[("a", FileKind::File, "2")]),
            walked(&[("a", FileKind::File, "1"), ("b", FileKind::Directory, "")]),
        ] {
            assert_ne!(other.digest(), digest);
        }
        let mut executable = one.clone();
        executable.files.values_mut().for_each(|it| it.is_executable = true);
        assert_ne!(executable.digest(), digest);
        assert_eq!(Walked { is_cut: true, ..one }.digest(), None);
    }
}
