//! The suite while it is put together: roles, evaluators, dimensions and tasks.

use jurat_format::value::{Val, Value};

use super::providers::{self, Provider};
use crate::document::{Object, text};
use crate::identifier::Names;

pub(super) struct Draft {
    pub(super) roles: Vec<(String, Value)>,
    pub(super) evaluators: Vec<(String, Object)>,
    pub(super) dimensions: Vec<String>,
    pub(super) tasks: Vec<Object>,
    /// Files beside the suite: code of evaluators.
    pub(super) files: Vec<(String, String)>,
    task_names: Names,
    evaluator_names: Names,
    /// Whether a judge is asked whose model the configuration does not name.
    pub(super) has_open_judge: bool,
}

/// What tasks see of a case; a task of the same name would hide it.
const CONTEXT: [&str; 13] = [
    "id",
    "description",
    "vars",
    "metadata",
    "input",
    "messages",
    "output",
    "parsed",
    "tool_calls",
    "usage",
    "cost_usd",
    "latency_ms",
    "finish_reason",
];

/// Dimensions that jurat has by itself.
const BUILT_IN: [&str; 6] = ["task", "process", "autonomy", "closeness", "efficiency", "spark"];

impl Default for Draft {
    fn default() -> Draft {
        let mut task_names = Names::default();
        for name in CONTEXT {
            task_names.unique(name);
        }
        Draft {
            roles: Vec::new(),
            evaluators: Vec::new(),
            dimensions: Vec::new(),
            tasks: Vec::new(),
            files: Vec::new(),
            task_names,
            evaluator_names: Names::default(),
            has_open_judge: false,
        }
    }
}

impl Draft {
    pub(super) fn task_name(&mut self, wanted: &str) -> String {
        self.task_names.unique(wanted)
    }

    /// The name of an evaluator with this definition; equal ones are one.
    pub(super) fn evaluator(&mut self, wanted: &str, definition: Object) -> String {
        let value = Value::from(definition.clone());
        let known = self.evaluators.iter().find(|(_, it)| Value::from(it.clone()) == value);
        if let Some((name, _)) = known {
            return name.clone();
        }
        let name = self.evaluator_names.unique(wanted);
        self.evaluators.push((name.clone(), definition));
        name
    }

    /// The file with this code; equal texts are one file.
    pub(super) fn code(&mut self, wanted: &str, ending: &str, content: &str) -> String {
        if let Some((name, _)) = self.files.iter().find(|(_, it)| it == content) {
            return name.clone();
        }
        let free = (1..).map(|n| match n {
            1 => format!("evaluators/{wanted}.{ending}"),
            n => format!("evaluators/{wanted}_{n}.{ending}"),
        });
        let name =
            free.into_iter().find(|name| self.files.iter().all(|(it, _)| it != name)).expect("numbers do not run out");
        self.files.push((name.clone(), content.to_owned()));
        name
    }

    pub(super) fn dimension(&mut self, metric: &str) -> String {
        let name = jurat_format::id::repaired(metric);
        let known = BUILT_IN.iter().copied().chain(self.dimensions.iter().map(String::as_str));
        if let Some(known) = known.into_iter().find(|it| it.eq_ignore_ascii_case(&name)) {
            return known.to_owned();
        }
        self.dimensions.push(name.clone());
        name
    }

    /// The role of a judge whose provider is named; `None` for the role `judge`, which is open.
    pub(super) fn judge(&mut self, provider: Option<&Value>) -> Result<Option<String>, String> {
        let Some(provider) = provider else {
            self.has_open_judge = !self.has_role("judge");
            return Ok(None);
        };
        let provider = match provider.get("text") {
            Some(text) => text,
            None => provider,
        };
        let taken = Provider::read(provider).and_then(|it| providers::model(&it))?;
        Ok(Some(self.role("judge", taken.model)).filter(|it| it != "judge"))
    }

    /// The role with this model: `wanted`, or the same with a number.
    pub(super) fn role(&mut self, wanted: &str, model: Value) -> String {
        if let Some((name, _)) = self.roles.iter().find(|(name, it)| *it == model && name.starts_with(wanted)) {
            return name.clone();
        }
        let is_free = |name: &str| !(self.has_role(name) || name == "judge" && self.has_open_judge);
        let names = std::iter::once(wanted.to_owned()).chain((2..).map(|n| format!("{wanted}_{n}")));
        let name = names.into_iter().find(|it| is_free(it)).expect("numbers do not run out");
        self.roles.push((name.clone(), model));
        name
    }

    pub(super) fn has_role(&self, name: &str) -> bool {
        self.roles.iter().any(|(it, _)| it == name)
    }

    /// The embedding model, unless another one is there.
    pub(super) fn embedder(&mut self, provider: Option<&Value>) -> Result<String, String> {
        const USUAL: &str = "openai/text-embedding-3-large";
        let id = match provider {
            None => return Ok(self.role("embedder", text(USUAL))),
            Some(Val::Str(id)) => id.to_string(),
            Some(other) => match other.get("embedding").unwrap_or(other) {
                Val::Str(id) => id.to_string(),
                inner => inner.get("id").and_then(Val::as_str).unwrap_or_default().to_owned(),
            },
        };
        match providers::embedder(&id) {
            Some(model) => Ok(self.role("embedder", text(model))),
            None => Err(format!("jurat has no embedding model `{id}`")),
        }
    }
}
