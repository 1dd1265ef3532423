//! Hooks: checks that code of the author decides. Nothing is called here; what is to be called and what it answers are values.

use jurat_compare::{Fault, Inapplicable, Judgement, Mismatch};
use jurat_format::value::{Map, Val, Value};

/// Code of the author that decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub code: HookCode,
    pub callable_name: String,
}

/// Where the code of a hook is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookCode {
    /// In a file, relative to the definition.
    Path(String),
    /// In a module that Python can import.
    Import(String),
}

impl Hook {
    /// The hook as it is stored, and as authors write it.
    pub fn to_value(&self) -> Value {
        let (key, code) = match &self.code {
            HookCode::Path(path) => ("path", path),
            HookCode::Import(module) => ("import_path", module),
        };
        let members = [(key, code), ("callable_name", &self.callable_name)];
        Val::Map(members.into_iter().map(|(key, it)| (key, Val::from(it.clone()))).collect::<Map<'static>>())
    }

    pub fn from_value(value: &Val<'_>) -> Option<Hook> {
        let text = |key: &str| value.get(key).and_then(Val::as_str).map(str::to_owned);
        let code = text("path").map(HookCode::Path).or_else(|| text("import_path").map(HookCode::Import))?;
        Some(Hook { code, callable_name: text("callable_name")? })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct HookAnswer {
    pub passed: bool,
    /// Why, in the author's words.
    pub message: Option<String>,
    pub metadata: Option<Value>,
    pub outputs: Option<Value>,
}

impl HookAnswer {
    /// The answer as it is stored.
    pub fn to_value(&self) -> Value {
        let members = [
            ("passed", Some(Val::Bool(self.passed))),
            ("message", self.message.clone().map(Val::from)),
            ("metadata", self.metadata.clone()),
            ("outputs", self.outputs.clone()),
        ];
        Val::Map(members.into_iter().filter_map(|(key, it)| Some((key, it?))).collect::<Map<'static>>())
    }

    pub fn from_value(value: &Val<'_>) -> Option<HookAnswer> {
        let Some(Val::Bool(passed)) = value.get("passed") else { return None };
        let object = |key: &str| value.get(key).filter(|it| it.as_map().is_some()).map(|it| it.clone().into_owned());
        Some(HookAnswer {
            passed: *passed,
            message: value.get("message").and_then(Val::as_str).map(str::to_owned),
            metadata: object("metadata"),
            outputs: object("outputs"),
        })
    }

    pub fn judgement(&self, hook: &Hook) -> Judgement {
        match self.passed {
            true => Judgement::Passed,
            false => Judgement::Failed(Box::new(Mismatch {
                expected: format!("`{}` to pass", hook.callable_name),
                found: self.message.clone().unwrap_or_else(|| "that it does not".to_owned()),
            })),
        }
    }
}

/// The verdict of a hook that is not allowed.
pub fn not_allowed() -> Judgement {
    let reason = "hooks are not allowed: they run the author's code. Say `security_policy: { allow_local_python_hooks: true }` to allow them";
    Judgement::Error(Box::new(Inapplicable { fault: Fault::Unsupported, reason: reason.to_owned() }))
}
