//! `hook`: a check that code of the author decides. Nothing is called here; what is to be called and what it answers are values.

use std::sync::Arc;

use jurat_compare::{Fault, Inapplicable, Judgement, Mismatch};
use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Map, Node, Spanned, Val, Value};

use super::decision::{Decided, cannot_tell};
use super::read::{conflict, missing};
use super::{Check, KIND, Needs, Rule, Seen, kind};
use crate::section::{Heading, Section};

const PATH: Field<String> = Field::optional("path", shape::STRING, "a Python file, relative to this one").or_null();
const IMPORT_PATH: Field<String> = Field::optional("import_path", shape::STRING, "a Python module to import").or_null();
const CALLABLE_NAME: Field<Spanned<String>> =
    Field::required("callable_name", shape::TEXT, "the function that decides");

kind! {
    HOOK = "hook": "passes if the author's Python function says so",
    keys: [PATH.key, IMPORT_PATH.key, CALLABLE_NAME.key],
    read: |reading, it| Some(Arc::new(hook(reading, it)?)),
    dimensions: [],
    note: "Hooks run code, so they are errors until the suite itself says `security_policy: { allow_local_python_hooks: true }`. The function is called in a Python process of its own (that of \
         `VIRTUAL_ENV`, else `python3`), in the directory of the definition, with a limit of 60 seconds. It is not walled in. It gets the artifact with its members as attributes, and, if it takes \
         a second parameter, a context with `check_id`, `description` and `case_source_path`. It returns a bool, or a dict with `passed` and maybe `message`, `metadata` and `outputs`. Anything \
         else, and any exception, is an error.\n\n```python\ndef two_sections(artifact):\n    return (artifact.final_response or \"\").count(\"## \") == 2\n```",
}

/// A hook as an entry of `deterministic_checks` has it: without `kind`.
pub(crate) const HOOK_SHAPE: Shape<Check> = Shape::new(Form::Object(&BARE), bare);

static BARE: Object = Object { what: "a hook", keys: &[PATH.key, IMPORT_PATH.key, CALLABLE_NAME.key] };

pub(crate) const HOOKS: Field<bool> =
    Field::optional("allow_local_python_hooks", shape::BOOLEAN, "whether hooks may run the author's Python");
const ALLOWS_HOOKS: Defaulted<bool> = HOOKS.default(false);

static SECURITY_POLICY: Object = Object { what: "`security_policy`", keys: &[ALLOWS_HOOKS.key] };

/// Whether hooks may run.
pub(crate) const SECTION: Section<bool> = Heading::new(
    "security_policy",
    Form::Object(&SECURITY_POLICY),
    "which code may run; only the one in the main file counts, not those of included files",
    &[],
)
.read(|reading, _, allows_hooks, at| {
    let Some(fields) = SECURITY_POLICY.fields(reading, at.node) else { return };
    let allows = fields.value(reading, &ALLOWS_HOOKS);
    // A library that is included must not allow what the suite does not.
    *allows_hooks = if at.is_main { allows } else { *allows_hooks };
});

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

impl Rule for Hook {
    fn needs(&self) -> Needs<'_> {
        Needs::Code(self)
    }

    // The engine calls code; what it returns is a verdict of its own.
    fn decide(&self, _: &Val<'_>, _: &[Seen]) -> Decided {
        Err(cannot_tell("a hook is decided by its code, which was not called"))
    }
}

fn hook(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Hook> {
    let (path, import) = (fields.read(reading, &PATH), fields.read(reading, &IMPORT_PATH));
    let callable_name = fields.read(reading, &CALLABLE_NAME);
    if let Some(name) = callable_name.as_ref().filter(|it| it.value.is_empty()) {
        let problem = Problem::new(&codes::WRONG_VALUE, "`callable_name` must not be empty").at(name.span, "empty");
        reading.problem(problem.help("it is the name of a function"));
    }
    let code = match (path, import) {
        (Some(path), None) => HookCode::Path(path),
        (None, Some(module)) => HookCode::Import(module),
        (Some(_), Some(_)) => {
            conflict(reading, fields, (&PATH.key, &IMPORT_PATH.key), "`path` is a file, `import_path` a module");
            return None;
        }
        (None, None) => {
            let keys = [PATH.key, IMPORT_PATH.key];
            if keys.iter().all(|it| fields.node(it).is_none()) {
                let message = "a hook needs `path` or `import_path`";
                missing(reading, fields, &keys, message, "for example `path: checks/report.py`");
            }
            return None;
        }
    };
    Some(Hook { code, callable_name: callable_name?.value })
}

/// A hook without `kind`, as the check of the kind `hook` that it is.
fn bare(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Check> {
    let fields = BARE.fields(reading, node)?;
    let hook = hook(reading, &fields)?;
    let own = hook.to_value();
    let own = own.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key.to_owned(), it.clone()));
    let written = [(KIND.to_owned(), Val::from(HOOK.name))].into_iter().chain(own);
    let written: Value = Val::Map(written.collect::<Map<'static>>());
    Some(Check { kind: &HOOK, rule: Arc::new(hook), written, source: reading.source(node.span) })
}
