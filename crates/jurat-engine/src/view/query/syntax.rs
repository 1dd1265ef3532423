//! The text of a query as a tree. Every part knows its place, so that problems can point at it.

use std::fmt;
use std::ops::Range;

use super::QueryProblem;

/// A query as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    All(Vec<Written>),
    Any(Vec<Written>),
    Not(Box<Written>),
    Term(WrittenTerm),
}

/// `task:tone=failed,error`: a key, a name where the key takes one, how it is compared, and with what. A text alone has no key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenTerm {
    pub(crate) at: Range<usize>,
    pub(crate) key: Option<Spanned>,
    pub(crate) name: Option<Spanned>,
    pub(crate) operator: Operator,
    pub(crate) values: Vec<Spanned>,
}

/// A text and where it stands, quotes included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spanned {
    pub(crate) text: String,
    pub(crate) at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Longer ones first: `<=` begins with `<`.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::IsNot),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("=", Operator::Is),
    ("<", Operator::Less),
    (">", Operator::More),
    (":", Operator::Is),
];

/// Keys that take a name before they are compared, and those of them that do without.
const NAMED: [&str; 8] = ["task", "label", "score", "group", "node", "edge", "change", "delta"];
const MAYBE_NAMED: [&str; 1] = ["change"];

/// The beginning of a key that is a path in the row.
pub(crate) const ROW: &str = "row.";

/// Parentheses and `-` beyond this depth are refused: reading them would need a deep stack.
const DEEPEST: usize = 100;

impl Written {
    pub(crate) fn parse(text: &str) -> Result<Written, QueryProblem> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let written = reader.all()?;
        match reader.rest().chars().next() {
            None => Ok(written),
            Some(_) => Err(reader.problem(reader.at..reader.at + 1, "a `)` without its `(`")),
        }
    }
}

impl Written {
    /// The terms that must all hold, each as text, with the query that is left without it.
    pub(crate) fn terms(&self) -> Vec<(String, String)> {
        let parts: &[Written] = match self {
            Written::All(parts) => parts,
            one => std::slice::from_ref(one),
        };
        let without = |ix: usize| {
            let rest: Vec<String> =
                parts.iter().enumerate().filter(|(it, _)| *it != ix).map(|(_, it)| it.to_string()).collect();
            rest.join(" ")
        };
        parts.iter().enumerate().map(|(ix, it)| (it.to_string(), without(ix))).collect()
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        self.at += if is_there { token.len() } else { 0 };
        is_there
    }

    fn problem(&self, at: Range<usize>, message: impl Into<String>) -> QueryProblem {
        QueryProblem::new(self.text, at, message)
    }

    /// Whether the word `OR` stands here, by itself.
    fn at_or(&self) -> bool {
        self.rest().strip_prefix("OR").is_some_and(|it| it.is_empty() || it.starts_with([' ', '\t', '\n', '(', ')']))
    }

    fn all(&mut self) -> Result<Written, QueryProblem> {
        let mut parts = Vec::new();
        loop {
            self.skip_space();
            match self.rest().chars().next() {
                None | Some(')') => break,
                Some(_) if self.at_or() && self.depth > 0 => break,
                Some(_) if self.at_or() => {
                    let at = self.at..self.at + 2;
                    return Err(self.problem(at, "`OR` stands in parentheses: `(a OR b)`; write `\"OR\"` for the text"));
                }
                Some(_) => parts.push(self.part()?),
            }
        }
        Ok(match <[Written; 1]>::try_from(parts) {
            Ok([one]) => one,
            Err(parts) => Written::All(parts),
        })
    }

    fn part(&mut self) -> Result<Written, QueryProblem> {
        let start = self.at;
        if self.take("-") {
            if self.rest().is_empty() || self.rest().starts_with(char::is_whitespace) {
                return Err(
                    self.problem(start..self.at, "`-` directly precedes the term that it excludes, without a space")
                );
            }
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(self.problem(start..self.at, "more `-` than can be meant"));
            }
            let part = self.part()?;
            self.depth -= 1;
            return Ok(Written::Not(Box::new(part)));
        }
        if self.take("(") {
            return self.group(start);
        }
        self.term().map(Written::Term)
    }

    fn group(&mut self, start: usize) -> Result<Written, QueryProblem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.problem(start..self.at, "more parentheses than can be meant"));
        }
        let mut parts = vec![self.all()?];
        while self.at_or() {
            self.at += 2;
            parts.push(self.all()?);
        }
        if !self.take(")") {
            return Err(self.problem(start..start + 1, "a `(` without its `)`"));
        }
        self.depth -= 1;
        Ok(match <[Written; 1]>::try_from(parts) {
            Ok([one]) => one,
            Err(parts) => Written::Any(parts),
        })
    }

    fn term(&mut self) -> Result<WrittenTerm, QueryProblem> {
        let start = self.at;
        let Some(key) = self.key() else {
            let text = self.value("a text")?;
            let at = start..self.at;
            return Ok(WrittenTerm { at, key: None, name: None, operator: Operator::Is, values: vec![text] });
        };
        let takes_name = NAMED.contains(&key.text.as_str());
        let may_lack_name = MAYBE_NAMED.contains(&key.text.as_str());
        let mut name = None;
        if takes_name && self.take(":") {
            let first = self.name()?;
            if may_lack_name && self.operator_here().is_none() {
                // What looked like a name is the first value.
                self.at = first.at.start;
                let values = self.values()?;
                return Ok(WrittenTerm { at: start..self.at, key: Some(key), name, operator: Operator::Is, values });
            }
            name = Some(first);
        } else if takes_name && !may_lack_name {
            let message = format!("`{}` takes a name: `{}:NAME=VALUE`", key.text, key.text);
            return Err(self.problem(key.at, message));
        }
        let Some((token, operator)) = self.operator_here().filter(|(token, _)| !takes_name || *token != ":") else {
            let message = format!("`=` or another comparison must follow `{}`", &self.text[start..self.at]);
            return Err(self.problem(start..self.at, message));
        };
        self.at += token.len();
        let values = self.values()?;
        Ok(WrittenTerm { at: start..self.at, key: Some(key), name, operator, values })
    }

    fn operator_here(&self) -> Option<(&'static str, Operator)> {
        OPERATORS.into_iter().find(|(token, _)| self.rest().starts_with(token))
    }

    /// A word that a comparison follows.
    fn key(&mut self) -> Option<Spanned> {
        let rest = self.rest();
        let is_path = rest.starts_with(ROW);
        let is_letter =
            |it: char| it.is_ascii_alphanumeric() || it == '_' || (is_path && !" \t\n()\"=<>!:,".contains(it));
        let len = rest.find(|it| !is_letter(it)).unwrap_or(rest.len());
        let follows = &rest[len..];
        let has_operator = OPERATORS.iter().any(|(token, _)| follows.starts_with(token));
        let begins = rest.starts_with(|it: char| it.is_ascii_alphabetic());
        if !begins || !has_operator {
            return None;
        }
        let at = self.at..self.at + len;
        self.at += len;
        Some(Spanned { text: self.text[at.clone()].to_owned(), at })
    }

    fn values(&mut self) -> Result<Vec<Spanned>, QueryProblem> {
        let mut values = vec![self.value("a value")?];
        while self.take(",") {
            values.push(self.value("a value")?);
        }
        Ok(values)
    }

    /// The name of a task or a path: up to a comparison.
    fn name(&mut self) -> Result<Spanned, QueryProblem> {
        self.text_until("a name", |it| it.is_whitespace() || "()=<>!,".contains(it))
    }

    fn value(&mut self, what: &str) -> Result<Spanned, QueryProblem> {
        self.text_until(what, |it| it.is_whitespace() || "(),".contains(it))
    }

    fn text_until(&mut self, what: &str, is_end: impl Fn(char) -> bool) -> Result<Spanned, QueryProblem> {
        let start = self.at;
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let len = self.rest().find(&is_end).unwrap_or(self.rest().len());
        if len == 0 {
            let end = start + self.rest().chars().next().map_or(0, char::len_utf8);
            return Err(self.problem(start..end, format!("{what} is missing here")));
        }
        self.at += len;
        Ok(Spanned { text: self.text[start..self.at].to_owned(), at: start..self.at })
    }

    fn quoted(&mut self) -> Result<Spanned, QueryProblem> {
        let start = self.at;
        let (mut text, mut letters) = (String::new(), self.rest().char_indices().skip(1));
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += at + 1;
                    return Ok(Spanned { text, at: start..self.at });
                }
                '\\' => match letters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, other)) => text.extend(['\\', other]),
                    None => break,
                },
                other => text.push(other),
            }
        }
        Err(self.problem(start..start + 1, "a `\"` without its end"))
    }
}

/// A text as it is written in a query: in quotes where it would be read as more.
pub(crate) fn quoted(text: &str, is_end: impl Fn(char) -> bool) -> String {
    let is_plain = !text.is_empty() && !text.contains(['"', '\\']) && !text.chars().any(&is_end);
    match is_plain {
        true => text.to_owned(),
        false => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
            format!("\"{escaped}\"")
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(OPERATORS.iter().find(|(_, it)| it == self).map_or("=", |(token, _)| token))
    }
}

impl fmt::Display for WrittenTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_value_end = |it: char| it.is_whitespace() || "(),".contains(it);
        // `<` and a value that begins with `=` would be read as `<=`.
        let begins_like_operator = |it: &str| it.starts_with(['=', '<', '>', '!', ':']);
        let value = |it: &str| quoted(it, |letter| is_value_end(letter) || begins_like_operator(it));
        let values: Vec<String> = self.values.iter().map(|it| value(&it.text)).collect();
        let Some(key) = &self.key else {
            // A text that would be read as a key, as what is left out, or as a word of the language.
            let text = &self.values[0].text;
            let is_word = !text.starts_with('-') && text != "OR" && !text.contains([':', '=', '<', '>', '!']);
            return f.write_str(&if is_word { values[0].clone() } else { quoted(text, |_| true) });
        };
        f.write_str(&key.text)?;
        let is_colon = self.name.is_none() && self.operator == Operator::Is && !key.text.starts_with(ROW);
        match &self.name {
            Some(name) => {
                let is_end = |it: char| it.is_whitespace() || "()=<>!,".contains(it);
                write!(f, ":{}{}", quoted(&name.text, is_end), self.operator)?;
            }
            None if is_colon => f.write_str(":")?,
            None => write!(f, "{}", self.operator)?,
        }
        f.write_str(&values.join(","))
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Written], between: &str| {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            parts.join(between)
        };
        match self {
            Written::All(parts) => f.write_str(&joined(parts, " ")),
            Written::Any(parts) => write!(f, "({})", joined(parts, " OR ")),
            Written::Not(part) if matches!(**part, Written::All(_)) => write!(f, "-({part})"),
            Written::Not(part) => write!(f, "-{part}"),
            Written::Term(term) => write!(f, "{term}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is read from a query, printed; or what is wrong with it.
    #[track_caller]
    fn read(query: &str, expected: &str) {
        let read = Written::parse(query).map_or_else(|it| it.to_string(), |it| it.to_string());
        assert_eq!(read, expected);
    }

    #[test]
    fn queries_read_as_they_are_meant() {
        read("", "");
        read("  verdict:failed,error   -task:tone=passed ", "verdict:failed,error -task:tone=passed");
        read("(verdict:failed OR (label:tone=rude score:q<0.5))", "(verdict:failed OR label:tone=rude score:q<0.5)");
        read("verdict=failed", "verdict:failed");
        read("task:\"a b\"!=failed", "task:\"a b\"!=failed");
        read("took>2s cost>=0.01 -\"two words\"", "took>2s cost>=0.01 -\"two words\"");
        read("row.input.lang=de", "row.input.lang=de");
        read("change:regression,fix change:tone=fix", "change:regression,fix change:tone=fix");
        read("change!=same delta:tone<-0.1", "change!=same delta:tone<-0.1");
        read("plain \"OR\" \"a:b\"", "plain \"OR\" \"a:b\"");
        read("\"say \\\"hi\\\"\"", "\"say \\\"hi\\\"\"");
        read("group:meta.lang=de,fr", "group:meta.lang=de,fr");
    }

    #[test]
    fn what_is_wrong_is_marked() {
        read("a OR b", "`OR` stands in parentheses: `(a OR b)`; write `\"OR\"` for the text at character 3");
        read("(a", "a `(` without its `)` at character 1");
        read("a)", "a `)` without its `(` at character 2");
        read("verdict:", "a value is missing here at character 9");
        read("task=failed", "`task` takes a name: `task:NAME=VALUE` at character 1");
        read("task:tone", "`=` or another comparison must follow `task:tone` at character 1");
        read("\"open", "a `\"` without its end at character 1");
        read("- a", "`-` directly precedes the term that it excludes, without a space at character 1");
        read(&"(".repeat(200), "more parentheses than can be meant at character 101");
        read(&("-".repeat(100_000) + "a"), "more `-` than can be meant at character 101");
        read(&"-(".repeat(200), "more `-` than can be meant at character 101");
        read("--a -b OR c", "`OR` stands in parentheses: `(a OR b)`; write `\"OR\"` for the text at character 8");
    }

    /// A tree without places, to compare what was printed with what is read.
    fn plain(written: &Written) -> String {
        match written {
            Written::All(parts) => format!("all{:?}", parts.iter().map(plain).collect::<Vec<_>>()),
            Written::Any(parts) => format!("any{:?}", parts.iter().map(plain).collect::<Vec<_>>()),
            Written::Not(part) => format!("not {}", plain(part)),
            Written::Term(it) => {
                let text = |it: &Option<Spanned>| it.as_ref().map(|it| it.text.clone());
                let values: Vec<&str> = it.values.iter().map(|it| it.text.as_str()).collect();
                format!("{:?} {:?} {} {values:?}", text(&it.key), text(&it.name), it.operator)
            }
        }
    }

    fn any_term() -> impl Strategy<Value = Written> {
        let text = "(a|b| |\"|\\\\|,|\\(|OR|-|:|=|é|\n){1,5}";
        let spanned = |text: String| Spanned { text, at: 0..0 };
        let operator = proptest::sample::select(OPERATORS.to_vec());
        (0..4_u8, text, proptest::collection::vec(text, 1..3), operator).prop_map(
            move |(kind, name, values, operator)| {
                let key = [None, Some("verdict"), Some("task"), Some("row.a.b")][usize::from(kind)];
                let values: Vec<Spanned> = values.into_iter().map(spanned).collect();
                Written::Term(WrittenTerm {
                    at: 0..0,
                    key: key.map(|it| spanned(it.to_owned())),
                    name: (key == Some("task")).then(|| spanned(name)),
                    operator: if key.is_some() { operator.1 } else { Operator::Is },
                    values: if key.is_some() { values } else { values[..1].to_vec() },
                })
            },
        )
    }

    fn any_written() -> impl Strategy<Value = Written> {
        any_term().prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 2..4).prop_map(Written::Any),
                inner.prop_map(|it| Written::Not(Box::new(it))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_printed_query_reads_back_the_same(parts in proptest::collection::vec(any_written(), 2..4)) {
            let written = Written::All(parts);
            let read = Written::parse(&written.to_string());
            prop_assert_eq!(read.as_ref().map(plain), Ok(plain(&written)), "{}", written);
        }

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,20}") {
            let _ = Written::parse(&text);
        }
    }
}
