//! What there is to know about each comparison before it is used: its name, what it takes, what it can judge.

use std::collections::HashMap;
use std::sync::LazyLock;

use jurat_format::value::{Kind, Kinds};

use super::args::{ArgError, Args};
use super::{FAMILIES, Rule};

/// One comparison of the vocabulary.
#[derive(Debug)]
pub struct Entry {
    /// The name as Karenina and Scouter spell it. Authors write this or its snake case.
    pub name: &'static str,
    /// Which tradition it comes from.
    pub origin: Origin,
    /// What passes, in one sentence after "the value".
    pub summary: &'static str,
    /// What `expected_value` must be.
    pub operand: Operand,
    /// Its parameters; only primitives have any.
    pub params: &'static [Param],
    /// The kinds of value that can pass. Others fail or are errors.
    pub passes: Kinds,
    /// What becomes of a list.
    pub arrays: Arrays,
    /// A task that uses it, as YAML.
    pub example: &'static str,
    pub(super) read: fn(&mut Args<'_, '_>) -> Result<Rule, ArgError>,
}

/// Where a comparison comes from. A name may occur once as an operator and once as a primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An operator of task graphs: strict about kinds.
    Operator,
    /// A verification primitive: works on text and numbers as Python sees them, takes parameters.
    Primitive,
}

/// What a comparison expects as its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Nothing; what stands there is ignored.
    Ignored,
    /// Nothing, or a boolean that says which way it goes (`true` when absent).
    Direction,
    /// Any value.
    Any,
    Number,
    /// A number, or text that reads as one.
    Numeric,
    Text,
    /// A regular expression.
    Pattern,
    List,
    /// `[lowest, highest]`
    Range,
    /// `[value, tolerance]`
    Tolerance,
    /// A date, as text.
    Date,
}

impl Operand {
    /// Whether an author must write `expected_value`.
    pub fn is_required(self) -> bool {
        !matches!(self, Operand::Ignored | Operand::Direction)
    }

    /// What it is, in words.
    pub fn phrase(self) -> &'static str {
        match self {
            Operand::Ignored => "nothing",
            Operand::Direction => "nothing, or `false` for the opposite",
            Operand::Any => "any value",
            Operand::Number => "a number",
            Operand::Numeric => "a number, or text that reads as one",
            Operand::Text => "text",
            Operand::Pattern => "a regular expression",
            Operand::List => "a list",
            Operand::Range => "`[lowest, highest]`",
            Operand::Tolerance => "`[value, tolerance]`",
            Operand::Date => "a date",
        }
    }
}

/// What becomes of a list that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrays {
    /// The list itself is judged.
    Whole,
    /// Each item is judged, and all must pass; an empty list fails.
    Each,
    /// The list itself is judged against a list, or when it is empty; else each item.
    WholeAgainstList,
}

/// One parameter of a primitive.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    /// Its JSON Schema, as JSON.
    pub schema: &'static str,
    /// What holds when it is left out, as JSON; `None` when it is required.
    pub default: Option<&'static str>,
    pub doc: &'static str,
}

impl Param {
    pub(super) const NORMALIZE: &'static str = r#"{"type": "array", "items": {"anyOf": [{"enum": ["lowercase", "strip", "remove_punctuation", "collapse_whitespace"]}, {"type": "object", "properties": {"mapping": {"type": "object", "additionalProperties": {"type": "string"}}}, "required": ["mapping"], "additionalProperties": false}]}}"#;
    pub(super) const NUMBER: &'static str = r#"{"type": "number"}"#;
    pub(super) const BOOLEAN: &'static str = r#"{"type": "boolean"}"#;
    pub(super) const TEXT: &'static str = r#"{"type": "string"}"#;
    pub(super) const INTEGER: &'static str = r#"{"type": "integer"}"#;
    pub(super) const MODE: &'static str = r#"{"enum": ["relative", "absolute"]}"#;
    pub(super) const DECAY: &'static str = r#"{"enum": ["linear", "quadratic"]}"#;

    pub(super) const fn required(name: &'static str, schema: &'static str, doc: &'static str) -> Param {
        Param { name, schema, default: None, doc }
    }

    pub(super) const fn optional(
        name: &'static str,
        schema: &'static str,
        default: &'static str,
        doc: &'static str,
    ) -> Param {
        Param { name, schema, default: Some(default), doc }
    }
}

impl Entry {
    /// An operator that takes no parameters; families change what differs.
    pub(super) const OPERATOR: Entry = Entry {
        name: "",
        origin: Origin::Operator,
        summary: "",
        operand: Operand::Any,
        params: &[],
        passes: Kinds::ALL,
        arrays: Arrays::Each,
        example: "",
        read: |args| Err(ArgError::at(args.span(), "an entry without a reader".to_owned())),
    };

    /// A primitive; it sees lists as they are.
    pub(super) const PRIMITIVE: Entry = Entry { origin: Origin::Primitive, arrays: Arrays::Whole, ..Entry::OPERATOR };

    /// The name as jurat writes it.
    pub fn snake_case(&self) -> String {
        snake_case(self.name)
    }

    /// Whether a value of this kind could pass; a list could when its items could.
    pub fn may_pass(&self, kind: Kind) -> bool {
        self.passes.contains(kind) || (kind == Kind::List && self.arrays != Arrays::Whole)
    }
}

/// Comparisons that are about the same thing.
#[derive(Debug)]
pub struct Family {
    /// Its name, spelt like those of comparisons.
    pub name: &'static str,
    /// Its members; all of one origin.
    pub entries: &'static [Entry],
}

/// Every family, operators before primitives.
pub fn families() -> &'static [Family] {
    FAMILIES
}

/// Every comparison, family by family.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().flat_map(|it| it.entries)
}

/// The comparisons with this name, in its own spelling or in snake case: the operator first, then the primitive.
pub fn find(name: &str) -> Vec<&'static Entry> {
    static BY_NAME: LazyLock<HashMap<String, Vec<&'static Entry>>> = LazyLock::new(|| {
        let mut by_name: HashMap<String, Vec<&'static Entry>> = HashMap::new();
        for entry in entries() {
            let names = [entry.name.to_owned(), entry.snake_case()];
            let n_names = if names[0] == names[1] { 1 } else { 2 };
            names.into_iter().take(n_names).for_each(|name| by_name.entry(name).or_default().push(entry));
        }
        by_name
    });
    BY_NAME.get(name).cloned().unwrap_or_default()
}

/// `HasLengthEqual` → `has_length_equal`, `IsIso8601` → `is_iso8601`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for it in name.chars() {
        if it.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(it.to_ascii_lowercase());
    }
    snake
}
