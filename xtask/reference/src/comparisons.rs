//! `docs/reference/comparisons.md`: every comparison, made from the catalogue of the core.
//!
//! What is said about one comparison stands in the file of its family; what holds for all of them stands here.

use jurat_compare::{Arrays, Entry, Family, Origin, Param, families};
use jurat_format::problem::listed;
use jurat_format::value::{Kinds, Val, parse_json};

/// The page.
pub(crate) fn comparison_reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (origin, introduction) in [(Origin::Operator, OPERATORS), (Origin::Primitive, PRIMITIVES)] {
        page += introduction;
        for family in families().iter().filter(|it| it.entries.iter().all(|it| it.origin == origin)) {
            page += &section(family);
        }
    }
    page
}

const INTRODUCTION: &str = "\
# Comparisons

<!-- Made from the program by `cargo xtask generate`; change `crates/jurat-compare/src/` instead. -->

A task compares a value with something: `field_path` says where the value is, `operator` names the comparison, and
`expected_value` is what it compares with.

```yaml
- { id: paid, field_path: invoice.status, operator: equals, expected_value: paid }
```

The answer is one of three. The value **passes**; or it **fails**, and the report says what was expected and what was
found; or the comparison **cannot be applied**, which is an error and says nothing about the subject. A number where text
is needed is such an error, and so is a pattern that takes too many steps.

Names are written in snake case (`has_length_equal`) or as other tools spell them (`HasLengthEqual`).

**What it compares with.** `expected_value` is a literal, or has `${path}` in it: then each case supplies it, from the context
that the task sees. What a comparison cannot use is a problem before anything runs.

**A path that finds nothing** is an error, because a misspelt path and an absent answer look the same. Two things say
otherwise on purpose: the operator `exists`, and `missing: fail` on the task, which makes absence a failure of the subject.

```yaml
- { id: refunded, field_path: refund.amount, operator: greater_than, expected_value: 0, missing: fail }
```

**Lists.** Most operators are about one value. On a list they are applied to each item, all of which must pass; an empty
list fails, so that an answer without any source does not pass \"every source is recent\". Operators that are about lists
judge the list itself, and so do all primitives. The tables say which; `item_field_path` says where to look inside each item.

**Where.** Every comparison can stand in a task over recorded data, and in a task with a `judge`, where `field_path` leads
into the reply.
";

const OPERATORS: &str = "
## Operators

Operators are strict about kinds: `\"5\"` is text and never greater than 4. The one exception is equality, where text that
reads as a number equals that number.
";

const PRIMITIVES: &str = "
## Primitives

Verification primitives treat values as Python does: numbers are read from text, other values are compared as Python
prints them, and `1`, `1.0` and `true` are equal. Most take parameters, which stand beside their name:

```yaml
operator: { type: NumericTolerance, tolerance: 0.05 }
operator: { numeric_tolerance: { tolerance: 0.05 } }   # the same
```

A name that is both an operator and a primitive means the primitive when it is written with parameters.

Those that compare text may normalise it first. `normalize` is a list, applied in order: `lowercase`, `strip` (no space at
either end), `remove_punctuation`, `collapse_whitespace`, or `{ mapping: { from: to } }`, which replaces whole texts.
";

fn section(family: &Family) -> String {
    let mut section = format!("\n### {}\n\n", title(family.name));
    section +=
        "| name | compares with | passes when the value | can pass | a list is judged |\n|---|---|---|---|---|\n";
    for entry in family.entries {
        let cells = [
            format!("`{}`<br>`{}`", entry.snake_case(), entry.name),
            entry.operand.phrase().to_owned(),
            entry.summary.to_owned(),
            kinds(entry.passes),
            lists(entry.arrays).to_owned(),
        ];
        section += &row(&cells);
    }
    section += "\n```yaml\n";
    for entry in family.entries {
        section += &format!("- {}\n", entry.example);
    }
    section += "```\n";
    for entry in family.entries.iter().filter(|it| !it.params.is_empty()) {
        section += &parameters(entry);
    }
    section
}

fn parameters(entry: &Entry) -> String {
    let mut text = format!("\nParameters of `{}`:\n\n", entry.snake_case());
    text += "| parameter | what it is | default | what it does |\n|---|---|---|---|\n";
    for param in entry.params {
        let cells = [format!("`{}`", param.name), form(&schema(param)), default(param.default), param.doc.to_owned()];
        text += &row(&cells);
    }
    text
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|it| it.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// `SetContainment` → `Set containment`
fn title(name: &str) -> String {
    let words = jurat_compare::snake_case(name).replace('_', " ");
    let (first, rest) = words.split_at(1.min(words.len()));
    first.to_uppercase() + rest
}

fn kinds(kinds: Kinds) -> String {
    if kinds == Kinds::ALL { "any value".to_owned() } else { kinds.to_string() }
}

fn lists(arrays: Arrays) -> &'static str {
    match arrays {
        Arrays::Whole => "as one value",
        Arrays::Each => "item by item",
        Arrays::WholeAgainstList => "as one value against a list, else item by item",
    }
}

fn default(default: Option<&'static str>) -> String {
    match default {
        None => "required".to_owned(),
        Some("null") => "none".to_owned(),
        Some(json) => format!("`{}`", json.replace('"', "")),
    }
}

fn schema(param: &Param) -> Val<'static> {
    parse_json(param.schema).map_or(Val::Null, |it| it.value)
}

/// A JSON Schema in words, as far as parameters go.
fn form(schema: &Val<'_>) -> String {
    let text = |key: &str| schema.get(key).and_then(Val::as_str);
    if let Some(choices) = schema.get("enum").and_then(Val::as_list) {
        return listed(choices.iter().filter_map(Val::as_str));
    }
    match text("type") {
        Some("string") => "text".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("number") => match (schema.get("minimum"), schema.get("exclusiveMinimum")) {
            (Some(least), _) => format!("a number of at least {least}"),
            (None, Some(bound)) => format!("a number above {bound}"),
            (None, None) => "a number".to_owned(),
        },
        Some("array") => match schema.get("items") {
            Some(item) if item.get("enum").is_some() => format!("a list of {}", form(item)),
            Some(item) if item.get("type").and_then(Val::as_str) == Some("string") => "a list of texts".to_owned(),
            _ => "a list of normalisers".to_owned(),
        },
        _ => "any value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_read_as_words() {
        for (schema, words) in [
            (r#"{"type": "number", "exclusiveMinimum": 0}"#, "a number above 0"),
            (r#"{"enum": ["relative", "absolute"]}"#, "`relative` or `absolute`"),
            (r#"{"type": "array", "items": {"enum": ["I", "M"]}}"#, "a list of `I` or `M`"),
            (r#"{"type": "array", "items": {"type": "string"}}"#, "a list of texts"),
        ] {
            assert_eq!(form(&parse_json(schema).unwrap().value), words);
        }
        assert_eq!(title("SetContainment"), "Set containment");
    }
}
