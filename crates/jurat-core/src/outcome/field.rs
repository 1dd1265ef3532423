//! The paths that lead into turns and into the result of a scenario.
//!
//! They are read once. A path that leads nowhere finds null: what an answer did not contain is nothing, and checks are written with that in mind.

use std::borrow::Cow;
use std::fmt;

use jurat_format::codes;
use jurat_format::form::Form;
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::Reading;
use jurat_format::shape::Shape;
use jurat_format::value::{FieldPath, Span, Step, Val};

/// The parts that a turn has.
pub const TURN_PARTS: [&str; 8] =
    ["node_id", "question_text", "raw_response", "parsed", "verify_result", "rubric", "failure", "usage"];

/// The parts that a result has.
pub const RESULT_PARTS: [&str; 11] = [
    "scenario_id",
    "status",
    "path",
    "turn_count",
    "history",
    "final_state",
    "outcome_results",
    "terminal_failure",
    "replicate",
    "usage",
    "row",
];

/// A path into a turn.
///
/// What comes behind `parsed.` and `rubric.` is one name, dots included. Anything deeper is a field path: `failure.category`, `usage.total_tokens`,
/// `parsed["person"].name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnField {
    text: String,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// A member of the turn.
    Member(String),
    /// A member of one of its objects.
    Inner(&'static str, String),
    /// Something deeper.
    Path(FieldPath),
    Nowhere,
}

/// What `parsed` is called where suites come from.
const PARSED: [&str; 2] = ["parsed", "parsed_fields"];

impl TurnField {
    /// Reads a path. Every text is one, though it may lead nowhere.
    pub fn parse(text: &str) -> TurnField {
        TurnField { text: text.to_owned(), place: place(text) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part of the turn that it leads into.
    pub fn part(&self) -> &str {
        self.text.split(['.', '[']).next().unwrap_or_default()
    }

    /// The object of the turn that it leads into, and the member of it, if it leads to one.
    pub(crate) fn inner(&self) -> Option<(&'static str, &str)> {
        match &self.place {
            Place::Inner(part, name) => Some((part, name)),
            _ => None,
        }
    }

    /// What it finds in a turn; null where there is nothing.
    pub fn find<'t, 'v>(&self, turn: &'t Val<'v>) -> Cow<'t, Val<'v>> {
        match (&self.place, self.member(turn)) {
            (_, Some(found)) => Cow::Borrowed(found),
            (Place::Path(path), None) => reached(path, turn),
            (_, None) => Cow::Owned(Val::Null),
        }
    }

    /// What it finds in a turn where no path has to be followed, which is the rule.
    #[inline(always)]
    pub(super) fn member<'t, 'v>(&self, turn: &'t Val<'v>) -> Option<&'t Val<'v>> {
        match &self.place {
            Place::Member(name) => turn.get(name),
            Place::Inner(part, name) => turn.get(part)?.get(name),
            Place::Path(_) | Place::Nowhere => None,
        }
    }
}

fn place(text: &str) -> Place {
    let (part, rest) = text.split_once('.').map_or((text, None), |(part, rest)| (part, Some(rest)));
    match (part, rest) {
        _ if text.contains('[') => FieldPath::parse(text).map_or(Place::Nowhere, Place::Path),
        ("node_id" | "question_text" | "raw_response" | "verify_result", _) => Place::Member(part.to_owned()),
        // As it is where suites come from: the fields as a whole go by their other name.
        ("parsed", None) => Place::Nowhere,
        (part, None) if part == PARSED[1] => Place::Member(PARSED[0].to_owned()),
        ("parsed", Some(name)) => Place::Inner("parsed", name.to_owned()),
        ("rubric", Some(name)) => Place::Inner("rubric", name.to_owned()),
        (part, None) => Place::Member(part.to_owned()),
        (_, Some(_)) => FieldPath::parse(text).map_or(Place::Nowhere, Place::Path),
    }
}

/// A path into the result: a member by its name, or a field path that leads deeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultField {
    text: String,
    path: Option<FieldPath>,
}

impl ResultField {
    /// Reads a path. Every text is one, though it may lead nowhere.
    pub fn parse(text: &str) -> ResultField {
        let is_deep = text.contains(['.', '[']);
        ResultField { text: text.to_owned(), path: FieldPath::parse(text).ok().filter(|_| is_deep) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part of the result that it leads into.
    pub fn part(&self) -> &str {
        match self.path.as_ref().and_then(|it| it.steps().first()) {
            Some(Step::Key(key)) => key,
            _ => &self.text,
        }
    }

    /// What it finds; null where there is nothing.
    #[inline]
    pub fn find<'r, 'v>(&self, result: &'r Val<'v>) -> Cow<'r, Val<'v>> {
        match (result.get(&self.text), &self.path) {
            (Some(found), _) => Cow::Borrowed(found),
            (None, Some(path)) => reached(path, result),
            (None, None) => Cow::Owned(Val::Null),
        }
    }
}

/// What a path finds; null where there is nothing.
fn reached<'r, 'v>(path: &FieldPath, value: &'r Val<'v>) -> Cow<'r, Val<'v>> {
    match path.reach(value) {
        Some(found) => Cow::Borrowed(found),
        None => path.find(value).unwrap_or(Cow::Owned(Val::Null)),
    }
}

impl fmt::Display for TurnField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for ResultField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) const TURN_FIELD: Shape<TurnField> = Shape::new(Form::Text, |reading, what, node| {
    let text = reading.text(what, node)?;
    Some(turn_field(reading, &text.value, text.span))
});

pub(super) const RESULT_FIELD: Shape<ResultField> = Shape::new(Form::Text, |reading, what, node| {
    let text = reading.text(what, node)?;
    Some(result_field(reading, &text.value, text.span))
});

/// A path into a turn. One that leads to no part of it is null in every turn.
pub(super) fn turn_field(reading: &mut Reading<'_>, text: &str, span: Span) -> TurnField {
    let field = TurnField::parse(text);
    if field.as_str() == "parsed" {
        let message = "`parsed` alone is null: what was read from an answer goes by its fields";
        let problem = Problem::new(&codes::UNKNOWN_PART, message).at(span, "null in every turn");
        reading.problem(problem.help("name a field: `parsed.stance`"));
    } else if !TURN_PARTS.contains(&field.part()) && field.as_str() != "parsed_fields" {
        reading.problem(unknown_part("a turn", field.part(), &TURN_PARTS, span));
    }
    field
}

/// A path into the result.
pub(super) fn result_field(reading: &mut Reading<'_>, text: &str, span: Span) -> ResultField {
    let field = ResultField::parse(text);
    if !RESULT_PARTS.contains(&field.part()) {
        reading.problem(unknown_part("the result of a scenario", field.part(), &RESULT_PARTS, span));
    }
    field
}

pub(super) fn unknown_part(what: &str, part: &str, parts: &[&'static str], span: Span) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_PART, format!("{what} has no `{part}`, so this is always null"));
    nearest_part(problem.at(span, "leads nowhere"), what, part, parts)
}

/// The same in an expression, which is an error when it looks at what is not there.
pub(super) fn unread_part(what: &str, part: &str, parts: &[&'static str], span: Span) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_PART, format!("{what} has no `{part}`, so this is always an error"));
    nearest_part(problem.at(span, "leads nowhere"), what, part, parts)
}

fn nearest_part(problem: Problem, what: &str, part: &str, parts: &[&'static str]) -> Problem {
    match nearest(part, parts.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("{what} has {}", listed(parts.iter().copied()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    const TURN: &str = r#"{"node_id": "a", "verify_result": null, "raw_response": "text", "parsed": {"n": 1, "a.b": 2,
        "person": {"name": "Ada", "tags": ["x"]}}, "rubric": {"quality.tests": 4}, "failure": {"category": "timeout"},
        "usage": {"total_tokens": 12}}"#;

    #[test]
    fn paths_lead_into_turns() {
        let turn = parse_json(TURN).unwrap().value;
        for (path, found) in [
            ("node_id", "\"a\""),
            ("node_id.more", "\"a\""),
            ("verify_result", "null"),
            ("parsed.n", "1"),
            ("parsed.a.b", "2"),
            ("parsed.person.name", "null"),
            ("parsed[\"person\"].name", "\"Ada\""),
            ("parsed.person[\"tags\"][-1]", "\"x\""),
            ("parsed", "null"),
            ("rubric.quality.tests", "4"),
            ("failure.category", "\"timeout\""),
            ("usage.total_tokens", "12"),
            ("usage.nothing", "null"),
            ("nothing", "null"),
            ("", "null"),
            ("a..b", "null"),
            ("a[", "null"),
        ] {
            assert_eq!(TurnField::parse(path).find(&turn).to_string(), found, "{path}");
        }
        assert!(TurnField::parse("parsed_fields").find(&turn).as_map().is_some());
    }

    #[test]
    fn paths_lead_into_results() {
        let result =
            parse_json(r#"{"status": "completed", "path": ["a"], "final_state": {"accumulated": {"n": 2}}, "x.y": 3}"#);
        let result = result.unwrap().value;
        for (path, found) in [
            ("status", "\"completed\""),
            ("status.more", "null"),
            ("path[0]", "\"a\""),
            ("final_state.accumulated.n", "2"),
            ("x.y", "3"),
            ("nothing", "null"),
        ] {
            assert_eq!(ResultField::parse(path).find(&result).to_string(), found, "{path}");
        }
    }
}
