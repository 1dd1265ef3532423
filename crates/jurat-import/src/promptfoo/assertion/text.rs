//! Assertions about the text of an answer.

use jurat_format::value::{Val, Value};

use super::super::pattern;
use super::{AssertionType, Taken, Taking, Use};
use crate::document::{Object, maybe_json, plain, text, texts};

pub(super) static TYPES: &[AssertionType] = &[
    AssertionType::new("contains", Use::Operand, contains),
    AssertionType::new("icontains", Use::Filled, |it| substrings(it, "ContainsAny", true)),
    AssertionType::new("contains-any", Use::Filled, |it| substrings(it, "ContainsAny", false)),
    AssertionType::new("contains-all", Use::Filled, |it| substrings(it, "ContainsAll", false)),
    AssertionType::new("icontains-any", Use::Filled, |it| substrings(it, "ContainsAny", true)),
    AssertionType::new("icontains-all", Use::Filled, |it| substrings(it, "ContainsAll", true)),
    AssertionType::new("equals", Use::Operand, equals),
    AssertionType::new("starts-with", Use::Operand, starts_with),
    AssertionType::new("regex", Use::Filled, regex),
    AssertionType::new("levenshtein", Use::Filled, levenshtein),
    AssertionType::new("similar", Use::Filled, similar),
    AssertionType::new("similar:cosine", Use::Filled, similar),
];

/// A literal that is not read as the path of a value.
fn operand(text_of: String) -> Result<Value, String> {
    let is_path = text_of.starts_with("${") && text_of.ends_with('}') && !text_of.starts_with("${vars.");
    match is_path {
        true => Err("its value has the form of a placeholder of jurat".to_owned()),
        false => Ok(text(text_of)),
    }
}

fn contains(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let operator = if taking.is_negated { "not_contains" } else { "contains" };
    let value = operand(taking.text()?)?;
    Ok(Taken::exact(taking.comparison(text(operator)).with("expected_value", value)))
}

fn substrings(taking: &mut Taking<'_, '_>, primitive: &str, ignores_case: bool) -> Result<Taken, String> {
    let is_list = taking.name.ends_with("-any") || taking.name.ends_with("-all");
    let wanted: Vec<String> = match taking.needed()? {
        Val::List(items) => items.iter().map(plain).collect(),
        _ if !is_list => vec![taking.text()?],
        _ => split(&taking.text()?)?,
    };
    if wanted.is_empty() {
        return Err("its value has no text to look for".to_owned());
    }
    if taking.is_negated {
        let parts: Vec<String> = wanted.iter().map(|it| pattern::literal(it)).collect();
        let inner = match primitive {
            "ContainsAny" => format!(r"[\s\S]*(?:{})", parts.join("|")),
            _ => parts.iter().map(|it| format!(r"(?=[\s\S]*{it})")).collect(),
        };
        return Ok(Taken::exact(without(taking, &inner, ignores_case)));
    }
    let mut operator = Object::new().with("type", text(primitive)).with("substrings", texts(wanted));
    if ignores_case {
        operator.put("normalize", texts(["lowercase"]));
    }
    Ok(Taken::exact(taking.comparison(operator)))
}

/// A comparison that passes when a pattern does not match at the beginning of the text.
fn without(taking: &Taking<'_, '_>, pattern: &str, ignores_case: bool) -> Object {
    let flags = if ignores_case { "(?i)" } else { "" };
    taking.comparison(text("matches")).with("expected_value", text(format!("{flags}^(?!{pattern})")))
}

/// The parts of a text between commas that are not empty. In double quotes a comma does not separate.
fn split(value: &str) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches(|it: char| it == ',' || it.is_whitespace());
        if rest.is_empty() {
            return Ok(parts);
        }
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => in_quotes(quoted)?,
            None => {
                let (part, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                (part.trim().to_owned(), after)
            }
        };
        parts.push(part);
        rest = after;
    }
}

/// A text up to its closing quote, and what follows. `""` and `\"` are a quote in it.
fn in_quotes(value: &str) -> Result<(String, &str), String> {
    let (mut part, mut letters) = (String::new(), value.char_indices().peekable());
    while let Some((at, it)) = letters.next() {
        let next = letters.peek().map(|(_, it)| *it);
        match (it, next) {
            ('\\', Some(escaped @ ('"' | '\\'))) | ('"', Some(escaped @ '"')) => {
                letters.next();
                part.push(escaped);
            }
            ('"', _) => {
                let after = value[at + 1..].trim_start();
                return match after.is_empty() || after.starts_with(',') {
                    true => Ok((part, after)),
                    false => Err("promptfoo refuses its value: text after a quote".to_owned()),
                };
            }
            (it, _) => part.push(it),
        }
    }
    Err("promptfoo refuses its value: a quote is not closed".to_owned())
}

fn equals(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let value = match taking.needed()? {
        Val::Str(text) if text.starts_with("file://") && text.ends_with(".json") => maybe_json(&taking.text()?),
        Val::Str(_) => text(taking.text()?),
        other => other.clone(),
    };
    if matches!(value, Val::Map(_) | Val::List(_)) {
        let path =
            if taking.output.contains("@json") { taking.output.clone() } else { format!("{}.@json", taking.output) };
        let operator = if taking.is_negated { "not_equal" } else { "equals" };
        let task = Object::new()
            .with("field_path", text(path))
            .with("operator", text(operator))
            .with("expected_value", value)
            .with("missing", text("fail"));
        return match taking.is_negated {
            false => Ok(Taken::exact(task)),
            true => Ok(Taken::approximate(task, "an answer that is no JSON fails here, and passes in promptfoo")),
        };
    }
    let wanted = plain(&value);
    if taking.output.contains("@json") {
        let operator = if taking.is_negated { "not_equal" } else { "equals" };
        let task = taking.comparison(text(operator)).with("expected_value", value).with("missing", text("fail"));
        return Ok(Taken::exact(task));
    }
    if taking.is_negated {
        let whole = format!(r"{}(?![\s\S])", pattern::literal(&wanted));
        return Ok(Taken::exact(without(taking, &whole, false)));
    }
    let operator = Object::new().with("type", text("ExactMatch")).with("normalize", Value::List(Vec::new()));
    Ok(Taken::exact(taking.comparison(operator).with("expected_value", operand(wanted)?)))
}

fn starts_with(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let wanted = taking.text()?;
    if taking.is_negated {
        return Ok(Taken::exact(without(taking, &pattern::literal(&wanted), false)));
    }
    Ok(Taken::exact(taking.comparison(text("starts_with")).with("expected_value", operand(wanted)?)))
}

fn regex(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let written = taking.text()?;
    if taking.is_negated {
        let translated = pattern::beside_look_around(&written)?;
        let task = without(taking, &format!(r"[\s\S]*(?:{translated})"), false);
        return Ok(Taken::exact(task));
    }
    let translated = pattern::translated(&written)?;
    Ok(Taken::exact(taking.comparison(text("matches")).with("expected_value", text(translated))))
}

fn levenshtein(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let reference = text(taking.text()?);
    let evaluator = taking.draft.evaluator("edit_distance", Object::new().with("builtin", text("edit_distance")));
    let task = taking.bounded(&evaluator, "less_than_or_equal", taking.threshold(5.0));
    Ok(Taken::exact(taking.with_reference(&task, reference)))
}

fn similar(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let reference = match taking.needed()? {
        Val::List(items) => items.iter().map(|it| text(plain(it))).collect(),
        _ => text(taking.text()?),
    };
    let provider = taking.spec.get("provider").or_else(|| taking.options.get("provider")).cloned();
    let role = taking.draft.embedder(provider.as_ref())?;
    let definition = match role.as_str() {
        "embedder" => text("embedding_similarity"),
        role => Object::new().with("embedding_similarity", Object::new().with("model", text(role))).into(),
    };
    let evaluator = taking.draft.evaluator("similarity", Object::new().with("builtin", definition));
    let task = taking.bounded(&evaluator, "greater_than_or_equal", taking.threshold(0.75));
    Ok(Taken::exact(taking.with_reference(&task, reference)))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn texts_are_split_at_commas_outside_of_quotes() {
        let parts = |value: &str| split(value).map(|it| it.join("|"));
        assert_eq!(parts("a, b").as_deref(), Ok("a|b"));
        assert_eq!(parts("  a,, b c ,").as_deref(), Ok("a|b c"));
        assert_eq!(parts(r#""a,b", z"#).as_deref(), Ok("a,b|z"));
        assert_eq!(parts(r#""say ""hi""", "a\"b""#).as_deref(), Ok(r#"say "hi"|a"b"#));
        assert!(parts(r#""a"#).is_err() && parts(r#""a" b"#).is_err());
    }
}
