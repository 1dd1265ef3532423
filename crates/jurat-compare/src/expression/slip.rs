//! What people write by habit from other languages, and what it is here.

use super::limits::code;

/// Words of other languages and what they are in CEL.
const WORDS: [(&str, &str); 9] = [
    ("and", "&&"),
    ("or", "||"),
    ("not", "!"),
    ("AND", "&&"),
    ("OR", "||"),
    ("NOT", "!"),
    ("is", "=="),
    ("like", ".contains(…)"),
    ("LIKE", ".contains(…)"),
];

/// Names of constants in other languages and what they are in CEL.
const CONSTANTS: [(&str, &str); 7] = [
    ("True", "true"),
    ("False", "false"),
    ("None", "null"),
    ("TRUE", "true"),
    ("FALSE", "false"),
    ("NULL", "null"),
    ("nil", "null"),
];

/// Runs of characters that are operators elsewhere and what they are in CEL.
const OPERATORS: [(&str, &str); 6] =
    [("===", "=="), ("!==", "!="), ("<>", "!="), ("=", "=="), ("&", "&&"), ("|", "||")];

/// Why an expression that cannot be parsed probably cannot, with what to write.
pub(super) fn of_syntax(source: &str) -> Option<String> {
    let text: String = code(source).collect();
    let operator = runs(&text, is_sign).find_map(|run| listed(&OPERATORS, run));
    let word = || runs(&text, |it| it.is_alphanumeric() || it == '_').find_map(|run| listed(&WORDS, run));
    let (wrong, right) = operator.or_else(word)?;
    Some(format!("`{wrong}` is written `{right}`"))
}

/// What the parser says, without the names of its grammar.
pub(super) fn plain_words(message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    let quoted = message.split('\'').nth(1).unwrap_or_default();
    let is_unexpected =
        ["mismatched input", "extraneous input", "no viable alternative", "token recognition", "missing"]
            .iter()
            .any(|it| message.starts_with(it));
    match quoted {
        "<EOF>" => "it ends too early".to_owned(),
        "" => message.to_owned(),
        quoted if is_unexpected => format!("`{quoted}` does not belong here"),
        _ => message.to_owned(),
    }
}

/// What a name that nothing has is called here.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    listed(&CONSTANTS, name).map(|(_, right)| right)
}

fn listed(list: &[(&'static str, &'static str)], name: &str) -> Option<(&'static str, &'static str)> {
    list.iter().find(|(wrong, _)| *wrong == name).copied()
}

fn is_sign(it: char) -> bool {
    matches!(it, '=' | '!' | '<' | '>' | '&' | '|')
}

fn runs(text: &str, is_part: fn(char) -> bool) -> impl Iterator<Item = &str> {
    text.split(move |it| !is_part(it)).filter(|it| !it.is_empty())
}
