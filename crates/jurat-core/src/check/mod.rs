//! Deterministic checks: questions about a finished run that need no model to answer.
//!
//! A check reads the evidence of its case ([`crate::evidence::run`]) and, where it is about files, what was seen of them. It passes, fails with what was
//! expected and found, or cannot be decided, which is an error and never a pass. Deciding is pure: [`Check::looks`] says what to look at,
//! the engine looks, [`Check::decide`] draws the conclusion from what was seen.
//!
//! A kind of check is declared by `kind!` in the file of its family, beside its `Rule`, and listed in `KINDS`.

mod artifacts;
mod bounds;
mod calls;
mod decision;
pub(crate) mod dimension;
mod endings;
mod files;
mod folded;
mod glob;
pub(crate) mod hook;
mod read;
mod responses;
mod seen;
mod tool_calls;
mod uri;
mod workspace;
mod workspace_changes;

pub(crate) use calls::arguments;
pub use calls::{Call, CallPattern, calls};
pub use dimension::{DIMENSIONS, DimensionScore, dimension_scores};
pub use folded::{folded, is_blank};
pub use glob::Glob;
pub(crate) use hook::HOOK_SHAPE;
pub use hook::{Hook, HookAnswer, HookCode, not_allowed};
pub(crate) use read::{SHAPE, conflict, objects, schema};
pub use seen::{Base, Files, Look, MOST_SEARCHED, MOST_TEXT, Seen, SeenFile, Wants};
pub use tool_calls::Which;
pub use uri::uri_path;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_compare::Judgement;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Val, Value};

use decision::Decided;

/// Every kind of check, in the order of the reference.
pub static KINDS: &[&Kind] = &[
    &responses::FINAL_RESPONSE_PRESENT,
    &tool_calls::TOOL_CALL_COUNT,
    &files::FILE_EXISTS,
    &files::FILE_CONTAINS,
    &files::PATH_EXISTS,
    &endings::STATUS_IS,
    &artifacts::OUTPUT_ARTIFACT_PRESENT,
    &artifacts::OPENCLAW_WORKSPACE_FILE_PRESENT,
    &artifacts::WORKSPACE_FILE_PRESENT,
    &responses::FINAL_RESPONSE,
    &tool_calls::TOOL_CALLED,
    &tool_calls::TOOL_NOT_CALLED,
    &tool_calls::TOOL_ORDER,
    &tool_calls::TOOL_RESULT,
    &files::FILE_MATCHES,
    &workspace_changes::WORKSPACE_UNCHANGED,
    &bounds::COST_USD,
    &bounds::TOKENS,
    &bounds::TURNS,
    &bounds::DURATION_SECONDS,
    &endings::EXIT_STATUS,
    &hook::HOOK,
];

/// A kind of check.
pub struct Kind {
    /// Its name, as authors write it.
    pub name: &'static str,
    object: Object,
    read: fn(&mut Reading<'_>, &Fields<'_, '_>) -> Option<Arc<dyn Rule>>,
    /// The dimensions that its result counts for by default.
    dimensions: &'static [&'static str],
    /// What the reference adds to its keys, in Markdown; may be empty.
    pub note: &'static str,
}

/// Declares a kind of check: name and meaning, keys, reader, and default dimensions.
macro_rules! kind {
    ($constant:ident = $name:literal: $doc:literal, keys: [$($key:expr),* $(,)?], read: $read:expr, dimensions: $dimensions:expr $(, note: $note:literal)? $(,)?) => {
        pub(super) static $constant: $crate::check::Kind = $crate::check::Kind {
            name: $name,
            object: jurat_format::form::Object {
                what: concat!("a check `", $name, "`"),
                keys: &[
                    $crate::check::kind_key(&[$name], $doc)
                    $(, $key)*
                ],
            },
            read: $read,
            dimensions: &$dimensions,
            note: concat!($($note)?),
        };
    };
}
use kind;

/// The key with the name of the kind, which [`Check`]s are read by.
const fn kind_key(names: &'static [&'static str], doc: &'static str) -> Key {
    Field::required(KIND, shape::tree(Form::Choice(names)), doc).key
}

/// The key that names the kind of a check.
pub(crate) const KIND: &str = "kind";

/// What a check asks, and how it is decided.
trait Rule: fmt::Debug + Send + Sync {
    /// What it needs beside the evidence.
    fn needs(&self) -> Needs<'_> {
        Needs::Nothing
    }

    /// The files that it looks at.
    fn looks(&self, _: &Val<'_>) -> Vec<Look> {
        Vec::new()
    }

    /// What follows from the evidence, and from what was seen at each of its looks, in order.
    fn decide(&self, evidence: &Val<'_>, seen: &[Seen]) -> Decided;

    /// The type of the output artifact that it requires.
    fn artifact_type(&self) -> Option<&str> {
        None
    }
}

/// What a check needs beside the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Needs<'r> {
    Nothing,
    /// It may have to look at files.
    Files,
    /// The author's code decides.
    Code(&'r Hook),
}

/// A check: what it asks, and how it was written.
#[derive(Clone)]
pub struct Check {
    kind: &'static Kind,
    rule: Arc<dyn Rule>,
    /// The definition, as it was written.
    pub written: Value,
    /// The file that it stands in. Paths in it are relative to its directory.
    pub source: PathBuf,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)
    }
}

impl Check {
    /// The name of its kind, as authors write it.
    pub fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// The directory that paths in it are relative to.
    pub fn home(&self) -> &Path {
        self.source.parent().unwrap_or(Path::new(""))
    }

    /// Whether it may have to look at files, or have code called, before it can be decided.
    pub fn may_look(&self) -> bool {
        self.rule.needs() != Needs::Nothing
    }

    /// The author's code, when that decides.
    pub fn hook(&self) -> Option<&Hook> {
        if let Needs::Code(hook) = self.rule.needs() { Some(hook) } else { None }
    }

    /// The type of the output artifact that it requires.
    pub fn artifact_type(&self) -> Option<&str> {
        self.rule.artifact_type()
    }

    /// The dimensions that its result counts for by default.
    pub fn default_dimensions(&self) -> &'static [&'static str] {
        self.kind.dimensions
    }

    /// What has to be looked at before it can be decided; nothing for most.
    pub fn looks(&self, evidence: &Val<'_>) -> Vec<Look> {
        self.rule.looks(evidence)
    }

    /// What follows from the evidence of a run, and from what was seen at each of [`Check::looks`], in order.
    pub fn decide(&self, evidence: &Val<'_>, seen: &[Seen]) -> Judgement {
        match self.rule.decide(evidence, seen) {
            Ok(None) => Judgement::Passed,
            Ok(Some(mismatch)) => Judgement::Failed(Box::new(mismatch)),
            Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
        }
    }

    pub fn run(&self, evidence: &Val<'_>, files: &dyn Files) -> Judgement {
        let seen: Vec<Seen> = self.looks(evidence).iter().map(|it| files.look(it)).collect();
        self.decide(evidence, &seen)
    }
}
