//! What is left of a run: the folders that it has while it runs, and what is kept when it is over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jurat_core::agent::{AgentCase, KEY_OUTPUT_BYTES, Kept, Walked};
use jurat_core::artifact::OutputArtifact;
use jurat_core::value::{Map, Val};
use jurat_host::workspace;
use jurat_sandbox::jail::remove_folder;

/// The folders of a run. What need not be kept goes with it.
#[derive(Debug)]
pub(super) struct Folders {
    /// What the run is known by.
    pub(super) name: String,
    /// What is kept.
    pub(super) kept: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) home: PathBuf,
    pub(super) tmp: PathBuf,
    /// Short paths, for sockets.
    pub(super) sockets: PathBuf,
    root: PathBuf,
}

impl Folders {
    /// Makes them. `seed` tells runs at the same moment apart.
    pub(super) fn make(kept: &Path, seed: &str) -> io::Result<Folders> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let hash = blake3::hash(format!("{seed} {} {}", now.as_nanos(), std::process::id()).as_bytes()).to_hex();
        let name = hash[..16].to_owned();
        let root = std::env::temp_dir().join(format!("jurat-{name}"));
        let folders = Folders {
            kept: std::path::absolute(kept)?.join(&name),
            workspace: root.join("workspace"),
            home: root.join("home"),
            tmp: root.join("tmp"),
            sockets: root.join("s"),
            root,
            name,
        };
        for folder in [&folders.kept, &folders.workspace, &folders.home, &folders.tmp, &folders.sockets] {
            fs::create_dir_all(folder)?;
        }
        Ok(folders)
    }

    /// Keeps what is to be kept of a run.
    pub(super) fn keep(&self, case: &AgentCase, before: &Walked, logs: Vec<OutputArtifact>) -> io::Result<Kept> {
        let after = workspace::walk(&self.workspace)?;
        let mut kept = Kept {
            directory: self.name.clone(),
            workspace: workspace::compare(&self.workspace, before, after),
            logs,
            ..Kept::default()
        };
        let kind = format!("{}_key_output", case.agent.runner.name());
        for path in &case.key_outputs {
            match workspace::keep(&self.workspace, path, &self.kept.join("outputs"), KEY_OUTPUT_BYTES) {
                Ok(file) => {
                    let number = kept.outputs.len() + 1;
                    let metadata = [("workspace_relative_path", Val::from(path.clone()))];
                    kept.outputs.push(OutputArtifact {
                        artifact_id: format!("{kind}_{number}"),
                        artifact_type: kind.clone(),
                        uri: format!("file:outputs/{}", escaped(path)),
                        media_type: None,
                        byte_size: Some(file.size),
                        sha256: Some(file.sha256),
                        metadata: Some(Val::Map(metadata.into_iter().collect::<Map<'static>>())),
                    });
                }
                Err(why) => kept.missing.push((path.clone(), why)),
            }
        }
        Ok(kept)
    }

    /// Keeps a log, and says where.
    pub(super) fn log(&self, runner: &str, kind: &str, name: &str, text: &str) -> io::Result<Option<OutputArtifact>> {
        if text.is_empty() {
            return Ok(None);
        }
        let path = self.kept.join(name);
        fs::write(&path, text)?;
        Ok(Some(OutputArtifact {
            artifact_id: identifier(name),
            artifact_type: format!("{runner}_{kind}"),
            uri: format!("file:{name}"),
            media_type: None,
            byte_size: Some(text.len() as u64),
            sha256: Some(workspace::sha256(&path)?),
            metadata: None,
        }))
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // Whatever an agent built there, it has ended by now.
        let _ = remove_folder(&self.root);
    }
}

fn identifier(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_lowercase() || it.is_ascii_digit() { it } else { '-' }).collect()
}

/// A path as it stands in a URI.
fn escaped(path: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~/".contains(&it);
    path.bytes().map(|it| if is_plain(it) { char::from(it).to_string() } else { format!("%{it:02X}") }).collect()
}
