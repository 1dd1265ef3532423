//! What is stored of a run: what became of its workspace, its key outputs, its logs. All of it goes to its place at once, when the run is over.

use std::fs;
use std::io;
use std::path::Path;

use jurat_core::agent::{AgentCase, KEY_OUTPUT_BYTES, StoredRun, Walked};
use jurat_core::artifact::OutputArtifact;
use jurat_format::value::{Map, Val};
use jurat_host::workspace::Root;
use jurat_host::{differences, workspace};

use super::folders::Folders;
use super::secrets::Secrets;

impl Folders {
    /// Stores what is to be stored of a run, in a directory of `place` that has its name. `seen` is what the agent called its workspace.
    pub(super) fn store(
        &self,
        place: &Path,
        case: &AgentCase,
        before: &Walked,
        logs: Vec<OutputArtifact>,
        (seen, secrets): (&str, &Secrets),
    ) -> io::Result<StoredRun> {
        let after = workspace::walk(&self.workspace)?;
        let mut compared = workspace::compare(&self.workspace, before, after);
        compared.root = seen.to_owned();
        if let Some(template) = &case.workspace {
            differences(template, before, &mut compared);
        }
        let mut stored = StoredRun { directory: self.name.clone(), workspace: compared, logs, ..StoredRun::default() };
        let kind = format!("{}_key_output", case.agent.runner.name);
        for path in &case.key_outputs {
            let (root, outputs) = (Root { folder: &self.workspace, seen }, self.stored.join("outputs"));
            match workspace::keep(root, path, &outputs, KEY_OUTPUT_BYTES) {
                Ok(mut file) => {
                    if secrets.scrub_file(&outputs.join(&file.path))? {
                        let copy = outputs.join(&file.path);
                        (file.size, file.sha256) = (fs::metadata(&copy)?.len(), workspace::sha256(&copy)?);
                    }
                    let number = stored.outputs.len() + 1;
                    let metadata = [("workspace_relative_path", Val::from(path.clone()))];
                    stored.outputs.push(OutputArtifact {
                        artifact_id: format!("{kind}_{number}"),
                        artifact_type: kind.clone(),
                        uri: format!("file:outputs/{}", escaped(path)),
                        media_type: None,
                        byte_size: Some(file.size),
                        sha256: Some(file.sha256),
                        metadata: Some(Val::Map(metadata.into_iter().collect::<Map<'static>>())),
                    });
                }
                Err(why) => stored.missing.push((path.clone(), why)),
            }
        }
        secrets.scrub_workspace(&mut stored.workspace);
        self.hand_over(place)?;
        Ok(stored)
    }

    /// Moves what is stored to its place.
    fn hand_over(&self, place: &Path) -> io::Result<()> {
        fs::create_dir_all(place)?;
        let target = place.join(&self.name);
        // Temporary files are often on another disk.
        fs::rename(&self.stored, &target).or_else(|_| workspace::copy_template(&self.stored, &target))
    }

    /// Stores a log, and returns where.
    pub(super) fn log(&self, runner: &str, kind: &str, name: &str, text: &str) -> io::Result<Option<OutputArtifact>> {
        if text.is_empty() {
            return Ok(None);
        }
        let path = self.stored.join(name);
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

fn identifier(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_lowercase() || it.is_ascii_digit() { it } else { '-' }).collect()
}

/// A path as it stands in a URI.
fn escaped(path: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~/".contains(&it);
    path.bytes().map(|it| if is_plain(it) { char::from(it).to_string() } else { format!("%{it:02X}") }).collect()
}
