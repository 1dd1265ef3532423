//! The values of `pass_env`, which are in nothing that is stored of a run.

use std::fs;
use std::io;
use std::path::Path;

use jurat_core::agent::{FileKind, Workspace};

/// Secrets under 6 bytes would match unrelated text.
const SHORTEST: usize = 6;

/// The variables that an agent was passed, with their values.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets(Vec<(String, String)>);

impl Secrets {
    pub(super) fn new(variables: &[(String, String)]) -> Secrets {
        let mut secrets: Vec<_> = variables.iter().filter(|(_, value)| value.len() >= SHORTEST).cloned().collect();
        // One that is part of another must not leave the rest of it.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Secrets(secrets)
    }

    /// A text with the names of secrets in their places.
    pub(super) fn scrubbed(&self, text: String) -> String {
        let has = |(_, value): &&(String, String)| text.contains(value.as_str());
        if !self.0.iter().any(|it| has(&it)) {
            return text;
        }
        self.0.iter().fold(text, |text, (name, value)| text.replace(value.as_str(), &format!("[{name}]")))
    }

    /// Scrubs the names, the targets of links, the texts and the diffs of a workspace.
    pub(super) fn scrub_workspace(&self, workspace: &mut Workspace) {
        if self.0.is_empty() {
            return;
        }
        let Workspace { added, changed, removed, after, texts, diffs, .. } = workspace;
        for path in added.iter_mut().chain(changed).chain(removed) {
            *path = self.scrubbed(std::mem::take(path));
        }
        after.files = std::mem::take(&mut after.files)
            .into_iter()
            .map(|(path, mut file)| {
                if file.kind == FileKind::Link {
                    file.digest = self.scrubbed(file.digest);
                }
                (self.scrubbed(path), file)
            })
            .collect();
        *texts = std::mem::take(texts)
            .into_iter()
            .map(|(path, (text, is_cut))| (self.scrubbed(path), (self.scrubbed(text), is_cut)))
            .collect();
        *diffs =
            std::mem::take(diffs).into_iter().map(|(path, diff)| (self.scrubbed(path), self.scrubbed(diff))).collect();
    }

    /// Scrubs a file, and returns whether that changed it.
    pub(super) fn scrub_file(&self, path: &Path) -> io::Result<bool> {
        if self.0.is_empty() {
            return Ok(false);
        }
        let bytes = fs::read(path)?;
        let scrubbed = self.0.iter().fold(bytes.clone(), |bytes, (name, value)| {
            replaced(&bytes, value.as_bytes(), format!("[{name}]").as_bytes())
        });
        let is_changed = scrubbed != bytes;
        if is_changed {
            fs::write(path, scrubbed)?;
        }
        Ok(is_changed)
    }
}

/// Bytes with every occurrence of some of them replaced.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(old) {
            replaced.extend_from_slice(new);
            at += old.len();
        } else {
            replaced.push(bytes[at]);
            at += 1;
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use jurat_core::agent::WalkedFile;

    use super::*;

    #[test]
    fn secrets_stand_in_no_name_no_target_and_no_file() {
        let secrets = Secrets::new(&[
            ("SHORT".to_owned(), "abc".to_owned()),
            ("KEY".to_owned(), "s3cret".to_owned()),
            ("LONG".to_owned(), "s3cret-and-more".to_owned()),
        ]);
        assert_eq!(secrets.scrubbed("abc s3cret s3cret-and-more".to_owned()), "abc [KEY] [LONG]");
        let link = WalkedFile {
            kind: FileKind::Link,
            size: 0,
            is_executable: false,
            digest: "to/s3cret".to_owned(),
            is_hashed: false,
        };
        let mut workspace = Workspace { added: vec!["s3cret.md".to_owned()], ..Workspace::default() };
        workspace.after.files.insert("s3cret.md".to_owned(), link);
        workspace.texts.insert("s3cret.md".to_owned(), ("is s3cret".to_owned(), false));
        secrets.scrub_workspace(&mut workspace);
        assert!(!format!("{workspace:?}").contains("s3cret"), "{workspace:?}");
        let file = tempfile::NamedTempFile::new().expect("there is room for files");
        fs::write(file.path(), b"\xffs3cret\0").expect("it can be written");
        assert!(secrets.scrub_file(file.path()).expect("it can be read"));
        assert_eq!(fs::read(file.path()).expect("it can be read"), b"\xff[KEY]\0");
        assert!(!secrets.scrub_file(file.path()).expect("it can be read"));
    }
}
