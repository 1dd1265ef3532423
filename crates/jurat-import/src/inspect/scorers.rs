//! The scorers of Inspect that jurat judges by, each as an evaluator or a ready judge.

use jurat_format::value::{Val, Value, python};

use crate::document::{Object, beginning, members, plain, text};

/// A task that judges as a scorer does.
#[derive(Debug, PartialEq)]
pub(super) struct Scorer {
    /// The id that is wished for the task.
    pub(super) name: &'static str,
    pub(super) by: By,
    /// How it differs from what Inspect does.
    pub(super) difference: Option<&'static str>,
}

#[derive(Debug, PartialEq)]
pub(super) enum By {
    /// An evaluator whose label is `C` where the answer is right.
    Label(String),
    /// An evaluator that measures.
    Score(String),
    /// A ready judge with this name.
    Judge(&'static str),
}

const INCLUDES: &str = include_str!("includes.py");
const MATCH: &str = include_str!("match.py");
const NORMALIZED: &str = include_str!("normalized.py");
const EXACT: &str = include_str!("exact.py");
const F1: &str = include_str!("f1.py");
const PATTERN: &str = include_str!("pattern.py");
const CHOICE: &str = include_str!("choice.py");

/// What is behind the last `ANSWER:`, by the option of the scorer `answer`.
const ANSWERS: [(&str, &str); 3] = [
    ("letter", r"(?is)answer\s*:\s*([a-z])(?:\W|$)(?!.*answer\s*:)"),
    ("word", r"(?is)answer\s*:\s*(\S+?)(?=[.,;:!?]?\s*(?:\n|$))(?!.*answer\s*:)"),
    ("line", r"(?i)answer\s*:\s*([^\n]+)\s*\Z"),
];

const CHOSEN: &str = "the letters behind the last `ANSWER:` are compared with the target; choices that were shuffled have other letters there";
const GRADED: &str = "the ready judge `correctness` takes the target as the reference and has a prompt of its own; without `model` it is the role `judge`";

/// The task for a scorer with its options; why there is none.
pub(super) fn offered(scorer: &str, options: &Value) -> Result<Scorer, String> {
    let label = |name, code: &str| Scorer { name, by: By::Label(code.to_owned()), difference: None };
    let offered = match scorer.rsplit('/').next().unwrap_or(scorer) {
        "includes" => label("includes", INCLUDES),
        "match" => label("match", MATCH),
        "exact" => label("exact", &format!("{NORMALIZED}{EXACT}")),
        "f1" => Scorer { name: "f1", by: By::Score(format!("{NORMALIZED}{F1}")), difference: None },
        "pattern" => label("pattern", PATTERN),
        "answer" => label("answer", PATTERN),
        "choice" => Scorer { difference: Some(CHOSEN), ..label("choice", CHOICE) },
        "model_graded_qa" => Scorer { name: "model_graded_qa", by: By::Judge("correctness"), difference: Some(GRADED) },
        "model_graded_fact" => {
            Scorer { name: "model_graded_fact", by: By::Judge("correctness"), difference: Some(GRADED) }
        }
        _ => return Err("jurat does not judge by it".to_owned()),
    };
    members(options).try_fold(offered, |offered, (key, value)| offered.with_option(key, value))
}

impl Scorer {
    fn with_option(self, key: &str, value: &Value) -> Result<Scorer, String> {
        let says_nothing = match value {
            Val::Null => true,
            Val::Bool(false) => matches!(key, "numeric" | "include_history" | "partial_credit"),
            Val::Str(it) => key == "model_role" && it == "grader" || key == "reducer",
            _ => false,
        };
        if says_nothing {
            return Ok(self);
        }
        let refused = || format!("its option `{key}: {}` is not taken over", beginning(&plain(value)));
        let constant = match (self.name, key, value) {
            (_, "ignore_case" | "match_all", Val::Bool(_)) | ("match", "location", Val::Str(_)) => value.clone(),
            ("pattern", "pattern", Val::Str(_)) | ("f1", "stop_words", Val::List(_)) => value.clone(),
            ("answer", "pattern", Val::Str(kind)) => {
                let known = ANSWERS.iter().find(|(it, _)| *it == &**kind);
                known.map(|(_, pattern)| text(*pattern)).ok_or_else(refused)?
            }
            _ => return Err(refused()),
        };
        let name = key.to_uppercase();
        let by = match self.by {
            By::Label(code) => By::Label(with_constant(&code, &name, &constant).ok_or_else(refused)?),
            By::Score(code) => By::Score(with_constant(&code, &name, &constant).ok_or_else(refused)?),
            By::Judge(_) => return Err(refused()),
        };
        Ok(Scorer { by, ..self })
    }

    /// The task, without its id; `evaluator` is the name of its code.
    pub(super) fn task(&self, evaluator: &str) -> Object {
        let with = Object::new().with("output", text("final_response"));
        let with = with.with("reference", text("runner_metadata.target"));
        match &self.by {
            By::Judge(name) => {
                let with = with.with("input", text("runner_metadata.input"));
                Object::new().with("judge", Object::new().with("use", text(*name)).with("with", with))
            }
            By::Score(_) => Object::new().with("evaluate", text(evaluator)).with("with", with),
            By::Label(_) => Object::new()
                .with("evaluate", text(evaluator))
                .with("with", with)
                .with("field_path", text("label"))
                .with("operator", text("equals"))
                .with("expected_value", text("C")),
        }
    }

    pub(super) fn code(&self) -> Option<&str> {
        match &self.by {
            By::Label(code) | By::Score(code) => Some(code),
            By::Judge(_) => None,
        }
    }
}

/// Code in which a line `NAME = …` has another value.
fn with_constant(code: &str, name: &str, value: &Value) -> Option<String> {
    let begins = format!("{name} = ");
    let line = code.lines().find(|it| it.starts_with(&begins))?;
    Some(code.replacen(line, &format!("{begins}{}", python::repr(value)), 1))
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    fn task(scorer: &str, options: &str) -> Result<Scorer, String> {
        offered(scorer, &parse_json(options).expect("JSON").value.into_owned())
    }

    #[test]
    fn options_are_constants_of_the_code() {
        let code = |scorer: &str, options: &str| task(scorer, options).expect("a task").code().map(str::to_owned);
        assert!(code("includes", r#"{"ignore_case": false}"#).is_some_and(|it| it.contains("\nIGNORE_CASE = False\n")));
        assert!(
            code("inspect_ai/match", r#"{"location": "any", "numeric": false}"#)
                .is_some_and(|it| it.contains("LOCATION = 'any'"))
        );
        assert!(code("pattern", r#"{"pattern": "(\\d+)"}"#).is_some_and(|it| it.contains(r"PATTERN = '(\\d+)'")));
        assert!(code("answer", r#"{"pattern": "letter"}"#).is_some_and(|it| it.contains("([a-z])")));
        assert_eq!(code("model_graded_qa", r#"{"partial_credit": false, "model": null}"#), None);
    }

    #[test]
    fn options_that_change_more_are_refused() {
        let refused = |scorer: &str, options: &str| task(scorer, options).expect_err("it is refused");
        assert_eq!(refused("match", r#"{"numeric": true}"#), "its option `numeric: true` is not taken over");
        assert_eq!(refused("includes", r#"{"location": "any"}"#), "its option `location: any` is not taken over");
        assert_eq!(refused("model_graded_fact", r#"{"template": "x"}"#), "its option `template: x` is not taken over");
        assert_eq!(refused("mine", "{}"), "jurat does not judge by it");
    }
}
