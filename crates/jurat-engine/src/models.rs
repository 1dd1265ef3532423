//! Who answers when a judge is asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jurat_core::effect::{ModelRequest, Outcome};
use jurat_core::plan::Plan;
use jurat_core::suite::Suite;
use jurat_core::suite::problem::listed_all;
use jurat_core::suite::source::{Files, Sources};
use jurat_core::value::SourceId;
use jurat_model::Asker;
use jurat_model::script::{Script, ScriptError};

/// The largest script that is read.
const MAX_SCRIPT: u64 = 256 << 20;

/// The models of a run, by the names that requests have: roles, or `provider/model`.
#[derive(Debug)]
pub struct Models(BTreeMap<String, Mutex<Script>>);

/// A model that cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A role was given a model, and nobody asks it.
    #[error("no judge asks the role `{role}`, which `--model` gives a model; judges ask {asked}")]
    NobodyAsks {
        /// The role.
        role: String,
        /// The roles that are asked, in words.
        asked: String,
    },
    /// Nobody plays the role.
    #[error("`{task}` asks the role `{role}`, which no model plays; give one with `--model {role}=provider/model`")]
    NoModel {
        /// The task that asks.
        task: String,
        /// The role.
        role: String,
    },
    /// The role has several models, and a judge asks one.
    #[error("the role `{role}` has {n} models; a judge asks one, a panel names several roles")]
    Several {
        /// The role.
        role: String,
        /// How many there are.
        n: usize,
    },
    /// The provider cannot be spoken to yet.
    #[error("models of `{provider}` are not asked by this version; it has `script/FILE`, a file of answers")]
    Provider {
        /// The provider.
        provider: String,
    },
    /// The script cannot be opened.
    #[error("the script `{file}` cannot be opened: {reason}")]
    NoScript {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// The script cannot be read.
    #[error("the script `{file}` cannot be read: {error}")]
    BadScript {
        /// The file.
        file: String,
        /// Why.
        error: ScriptError,
    },
}

impl Models {
    /// The models that the judges of a plan ask. `given` are `role=provider/model` from the command line, relative to the current
    /// directory; models of the suite are relative to the file that names them.
    pub fn of(
        plan: &Plan,
        suite: &Suite,
        sources: &Sources,
        given: &[(String, String)],
        files: &dyn Files,
    ) -> Result<Models, ModelError> {
        let mut models = BTreeMap::new();
        for task in &plan.tasks {
            for role in task.judge.iter().flat_map(|it| &it.models) {
                if models.contains_key(role) {
                    continue;
                }
                let script = match given.iter().find(|(name, _)| name == role) {
                    Some((_, model)) => opened(model, Path::new(""), files)?,
                    None => {
                        let (model, source) = played_by(suite, role, &task.id)?;
                        let folder = sources.get(source).and_then(|it| it.path.parent()).unwrap_or(Path::new(""));
                        opened(&model, folder, files)?
                    }
                };
                models.insert(role.clone(), Mutex::new(script));
            }
        }
        // A misspelt role would leave the judge with another model than its author thinks.
        if let Some((role, _)) = given.iter().find(|(role, _)| !models.contains_key(role)) {
            let asked =
                if models.is_empty() { "nobody".to_owned() } else { listed_all(models.keys().map(String::as_str)) };
            return Err(ModelError::NobodyAsks { role: role.clone(), asked });
        }
        Ok(Models(models))
    }

    /// Asks a model.
    pub(crate) fn ask(&self, asker: Asker<'_>, request: &ModelRequest, max_requests: u32) -> Option<Outcome> {
        let script = self.0.get(&request.model)?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(script.answer(asker, request, max_requests))
    }
}

/// The model of a role, and the file that names it.
fn played_by(suite: &Suite, role: &str, task: &str) -> Result<(String, SourceId), ModelError> {
    if role.contains('/') {
        return Ok((role.to_owned(), SourceId::default()));
    }
    match suite.models.iter().find(|it| it.name.value == role).map(|it| it.models.as_slice()) {
        Some([only]) => Ok((only.model.value.clone(), only.model.span.source)),
        Some(several) => Err(ModelError::Several { role: role.to_owned(), n: several.len() }),
        None => Err(ModelError::NoModel { task: task.to_owned(), role: role.to_owned() }),
    }
}

fn opened(model: &str, folder: &Path, files: &dyn Files) -> Result<Script, ModelError> {
    let (provider, file) = model.split_once('/').unwrap_or((model, ""));
    if provider != "script" {
        return Err(ModelError::Provider { provider: provider.to_owned() });
    }
    let no_script = |reason: String| ModelError::NoScript { file: file.to_owned(), reason };
    let bytes = files.read(&folder.join(file), MAX_SCRIPT).map_err(|error| no_script(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| no_script("it is not UTF-8 text".to_owned()))?;
    let text = text.trim_start_matches('\u{feff}');
    Script::parse(text).map_err(|error| ModelError::BadScript { file: file.to_owned(), error })
}
