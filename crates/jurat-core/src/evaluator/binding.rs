//! Where the arguments of an evaluator come from.
//!
//! A parameter is bound by its name. `output`, `input`, `reference` and `metadata` mean the same for every kind of case, wherever its evidence stores
//! them; any other name is a key of the context. `with:` says otherwise: a path, or a value.

use std::borrow::Cow;

use jurat_format::problem::listed;
use jurat_format::value::{Context, FieldPath, Map, Step, Val, Value};

use super::Signature;
use crate::prompt::Prompt;

/// The names that mean the same for every kind of case.
pub const COMMON: [&str; 4] = ["output", "input", "reference", "metadata"];

/// A parameter and where its argument comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    pub parameter: String,
    /// Where its argument comes from.
    pub from: Origin,
    /// Whether the function cannot do without.
    pub is_required: bool,
}

/// Where an argument comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// A path that its author wrote.
    Path(FieldPath),
    /// A value that its author wrote.
    Literal(Value),
    /// One of [`COMMON`]: the first of these paths that leads somewhere.
    Common(Vec<FieldPath>),
    /// The key of the context with the parameter's name.
    Key(FieldPath),
    /// The first of these paths that leads to something other than null.
    First(Vec<FieldPath>),
    /// A text whose placeholders the context fills.
    Text(Box<Prompt>),
}

impl Binding {
    /// The binding of a parameter by its name.
    pub fn by_name(parameter: &str, is_required: bool) -> Binding {
        let from = match common(parameter) {
            Some(paths) => Origin::Common(paths),
            None => Origin::Key(FieldPath::of([Step::Key(parameter.into())])),
        };
        Binding { parameter: parameter.to_owned(), from, is_required }
    }

    /// The paths that it may read.
    pub fn paths(&self) -> &[FieldPath] {
        match &self.from {
            Origin::Path(path) | Origin::Key(path) => std::slice::from_ref(path),
            Origin::Common(paths) | Origin::First(paths) => paths,
            Origin::Literal(_) | Origin::Text(_) => &[],
        }
    }

    fn find<'c>(&'c self, context: Context<'c>) -> Result<Option<Cow<'c, Val<'c>>>, String> {
        let key = |path: &FieldPath| context.find(path).map_err(|missing| missing.explain(path));
        match &self.from {
            Origin::Literal(value) => Ok(Some(Cow::Owned(value.borrowed()))),
            Origin::Path(path) => key(path).map(Some).map_err(|missing| format!("`{}`: {missing}", self.parameter)),
            Origin::Key(path) => match key(path) {
                Ok(value) => Ok(Some(value)),
                // It has a default, and the function knows best what to do without.
                Err(_) if !self.is_required => Ok(None),
                Err(missing) => Err(format!("`{}`: {missing}; say where it is under `with`", self.parameter)),
            },
            Origin::Text(text) => text.bound(context).map(|it| Some(Cow::Owned(Val::from(it)))),
            Origin::First(paths) => {
                let is_there = |it: &Cow<'_, Val<'_>>| !matches!(**it, Val::Null);
                match paths.iter().find_map(|it| context.find(it).ok().filter(is_there)) {
                    None if self.is_required => Err(format!(
                        "the case has no {}; say where `{1}` is: `with: {{ {1}: PATH }}`",
                        listed_paths(paths),
                        self.parameter
                    )),
                    found => Ok(found),
                }
            }
            Origin::Common(paths) => {
                let found = paths.iter().find_map(|it| context.find(it).ok());
                let may_lack = matches!(self.parameter.as_str(), "reference" | "metadata");
                match found {
                    Some(value) => Ok(Some(value)),
                    None if !self.is_required => Ok(None),
                    None if may_lack => Ok(Some(Cow::Owned(Val::Null))),
                    None => Err(format!(
                        "the case has no `{0}`; say where it is under `with`, for example `with: {{ {0}: answer }}`",
                        self.parameter
                    )),
                }
            }
        }
    }
}

/// Paths as a message lists them.
pub fn listed_paths(paths: &[FieldPath]) -> String {
    listed(paths.iter().map(ToString::to_string).collect::<Vec<_>>().iter().map(String::as_str))
}

/// The bindings of a function: its parameters by name, except for those that `with` says. Without a signature the common names are bound, as far as
/// they are there.
pub fn bindings(signature: Option<&Signature>, with: &[(String, Origin)]) -> Vec<Binding> {
    let parameters: Vec<(&str, bool)> = match signature {
        Some(signature) => signature.parameters.iter().map(|it| (it.name.as_str(), it.is_required)).collect(),
        None => COMMON.iter().map(|it| (*it, false)).collect(),
    };
    let said = |name: &str| with.iter().find(|(it, _)| it == name);
    let of_parameters = parameters.iter().map(|(name, is_required)| match said(name) {
        Some((_, from)) => Binding { parameter: (*name).to_owned(), from: from.clone(), is_required: true },
        None => Binding::by_name(name, *is_required),
    });
    let is_other = |name: &str| !parameters.iter().any(|(it, _)| *it == name);
    let others = with.iter().filter(|(name, _)| is_other(name));
    let others = others.map(|(name, from)| Binding { parameter: name.clone(), from: from.clone(), is_required: true });
    of_parameters.chain(others).collect()
}

/// The arguments that bindings find, as one object; or what is missing.
pub fn arguments(bindings: &[Binding], context: Context<'_>) -> Result<Value, String> {
    let mut arguments = Map::with_capacity(bindings.len());
    for binding in bindings {
        if let Some(value) = binding.find(context)? {
            arguments.insert(Cow::Owned(binding.parameter.clone()), value.into_owned().into_owned());
        }
    }
    Ok(Val::Map(arguments))
}

/// What a common name such as `input` or `output` means in the evidence of a case.
pub fn found_by_name<'e, 'v>(name: &str, evidence: &'e Val<'v>) -> Option<Cow<'e, Val<'v>>> {
    common(name)?.iter().find_map(|it| it.find(evidence).ok())
}

/// Where a common name is found: in a row or the answer to it, in a conversation, in the run of an agent.
fn common(name: &str) -> Option<Vec<FieldPath>> {
    let texts: &[&str] = match name {
        "output" => &["output", "history[-1].raw_response", "final_response"],
        "input" => &["input", "history[0].question_text"],
        "reference" => &["reference", "expected", "history[-1].raw_answer"],
        "metadata" => &["metadata"],
        _ => return None,
    };
    Some(texts.iter().filter_map(|it| FieldPath::parse(it).ok()).collect())
}
