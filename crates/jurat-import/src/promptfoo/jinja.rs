//! Templates of promptfoo (Nunjucks) that are more than variables, as Jinja templates of jurat: both have loops, conditions and most filters.
//!
//! What the two understand differently is refused. The rows of jurat have the variables under `vars`, so a template begins by giving each its name.

use crate::document::beginning;

/// A template, and the names that it takes from its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jinja {
    body: String,
    names: Vec<String>,
}

/// Filters that do the same in both, `dump` aside, which has another name.
const FILTERS: [&str; 19] = [
    "upper",
    "lower",
    "trim",
    "length",
    "join",
    "first",
    "last",
    "default",
    "replace",
    "title",
    "capitalize",
    "round",
    "sort",
    "reverse",
    "abs",
    "int",
    "float",
    "safe",
    "dump",
];

/// Words that are no names.
const WORDS: [&str; 11] = ["and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "loop"];

const TESTS: [&str; 5] = ["defined", "undefined", "odd", "even", "none"];

impl Jinja {
    /// Reads a template, or says what in it jurat would understand differently.
    pub(super) fn parse(text: &str) -> Result<Jinja, String> {
        let mut reader = Reader { body: String::new(), names: Vec::new(), bound: Vec::new() };
        let mut rest = text;
        while let Some(at) = ["{{", "{%", "{#"].iter().filter_map(|it| rest.find(it)).min() {
            reader.body += &rest[..at];
            rest = reader.tag(&rest[at..])?;
        }
        reader.body += rest;
        Ok(Jinja { body: reader.body, names: reader.names })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether it says itself what happens without a variable.
    pub(super) fn handles_missing(&self) -> bool {
        self.body.contains("default") || self.body.contains("defined")
    }

    /// The template with its variables named. Of each, whether all rows have it, or none.
    pub(super) fn template(&self, presence: impl Fn(&str) -> Presence) -> String {
        let named = |name: &String| match (presence(name), self.handles_missing()) {
            (Presence::Everywhere, _) | (Presence::Somewhere, false) => format!("{{% set {name} = vars.{name} %}}"),
            (Presence::Somewhere, true) => {
                format!("{{% if vars.{name} is defined %}}{{% set {name} = vars.{name} %}}{{% endif %}}")
            }
            // Nunjucks prints nothing for it.
            (Presence::Nowhere, false) => format!("{{% set {name} = \"\" %}}"),
            (Presence::Nowhere, true) => String::new(),
        };
        self.names.iter().map(named).collect::<String>() + &self.body
    }
}

/// How many rows have a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Everywhere,
    Somewhere,
    Nowhere,
}

struct Reader {
    body: String,
    names: Vec<String>,
    /// Names that the template gives itself.
    bound: Vec<String>,
}

impl Reader {
    /// Takes the tag that a text begins with, and returns what follows.
    fn tag<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let end = match &text[..2] {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        let Some((inner, rest)) = text[2..].split_once(end) else {
            return Err(format!("the tag `{}` is not closed by `{end}`", beginning(text)));
        };
        if end == "#}" {
            return Ok(rest);
        }
        let before = if inner.starts_with('-') { "-" } else { "" };
        let after = if inner.ends_with('-') && inner.len() > 1 { "-" } else { "" };
        let inner = &inner[before.len()..inner.len() - after.len()];
        let written = if end == "}}" { self.expression(inner)? } else { self.statement(inner)? };
        self.body += &format!("{}{before}{written}{after}{end}", &text[..2]);
        Ok(rest)
    }

    fn statement(&mut self, inner: &str) -> Result<String, String> {
        let refused = || Err(format!("template logic `{{% {} %}}`", beginning(inner.trim())));
        let (word, rest) = inner.trim().split_once(char::is_whitespace).unwrap_or((inner.trim(), ""));
        match word {
            "else" | "endif" | "endfor" => Ok(inner.to_owned()),
            "if" | "elif" => Ok(format!(" {word}{}", self.expression(&format!(" {rest} "))?)),
            "elseif" => Ok(format!(" elif{}", self.expression(&format!(" {rest} "))?)),
            "for" => match rest.split_once(" in ") {
                Some((name, list)) if is_name(name.trim()) => {
                    let list = self.expression(&format!(" {list} "))?;
                    self.bound.push(name.trim().to_owned());
                    Ok(format!(" for {} in{list}", name.trim()))
                }
                _ => refused(),
            },
            "set" => match rest.split_once('=') {
                Some((name, value)) if is_name(name.trim()) => {
                    let value = self.expression(&format!(" {value} "))?;
                    self.bound.push(name.trim().to_owned());
                    Ok(format!(" set {} ={value}", name.trim()))
                }
                _ => refused(),
            },
            _ => refused(),
        }
    }

    /// An expression with the words of jurat; the names in it are noted.
    fn expression(&mut self, text: &str) -> Result<String, String> {
        let refused = || Err(format!("the expression `{}`", beginning(text.trim())));
        const OTHERWISE: [&str; 6] = ["===", "!==", "&&", "||", "?", "=>"];
        let (mut written, mut rest, mut before) = (String::new(), text, String::new());
        while let Some(first) = rest.chars().next() {
            if OTHERWISE.iter().any(|it| rest.starts_with(it)) {
                return refused();
            }
            let length = match first {
                '"' | '\'' => match rest[1..].find(first) {
                    Some(end) if !rest[1..=end].contains('\\') => end + 2,
                    _ => return refused(),
                },
                _ if first.is_ascii_digit() => rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len()),
                _ if is_letter(first) => {
                    rest.find(|it: char| !is_letter(it) && !it.is_ascii_digit()).unwrap_or(rest.len())
                }
                _ => first.len_utf8(),
            };
            let (part, behind) = rest.split_at(length);
            let word =
                if is_letter(first) { self.word(part, &before, behind.trim_start()) } else { Ok(part.to_owned()) };
            let Ok(word) = word else { return refused() };
            written += &word;
            if !part.trim().is_empty() {
                before = part.to_owned();
            }
            rest = behind;
        }
        Ok(written)
    }

    /// A word by what stands before and behind it.
    fn word(&mut self, word: &str, before: &str, behind: &str) -> Result<String, ()> {
        let is_call = behind.starts_with('(');
        match before {
            "|" if word == "dump" && !is_call => return Ok("tojson".to_owned()),
            "|" => return if FILTERS.contains(&word) { Ok(word.to_owned()) } else { Err(()) },
            "." => return if word == "length" || is_call { Err(()) } else { Ok(word.to_owned()) },
            "is" | "not" if TESTS.contains(&word) => return Ok(word.to_owned()),
            "is" if word != "not" => return Err(()),
            _ => {}
        }
        let is_argument = behind.starts_with('=') && !behind.starts_with("==");
        if WORDS.contains(&word) || (word == "range" && is_call) || self.bound.iter().any(|it| it == word) {
            return Ok(word.to_owned());
        }
        if is_call || is_argument || matches!(word, "env" | "_conversation" | "null" | "undefined" | "self" | "super") {
            return Err(());
        }
        if !self.names.iter().any(|it| it == word) {
            self.names.push(word.to_owned());
        }
        Ok(word.to_owned())
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_name(text: &str) -> bool {
    text.starts_with(is_letter) && text.chars().all(|it| is_letter(it) || it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn taken(text: &str, expected: &str) {
        let presence = |name: &str| match name {
            "some" => Presence::Somewhere,
            "none_at_all" => Presence::Nowhere,
            _ => Presence::Everywhere,
        };
        let found = Jinja::parse(text).map_or_else(|why| format!("refused: {why}"), |it| it.template(presence));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn templates_begin_with_their_variables() {
        taken("{{ a | upper }}", "{% set a = vars.a %}{{ a | upper }}");
        taken(
            "{% for it in items -%} {{ loop.index }}. {{ it.name }} {% endfor %}",
            "{% set items = vars.items %}{% for it in items -%} {{ loop.index }}. {{ it.name }} {% endfor %}",
        );
        taken(
            "{% if a == \"x\" %}1{% elseif not b %}2{% endif %}{# said to nobody #}",
            "{% set a = vars.a %}{% set b = vars.b %}{% if a == \"x\" %}1{% elif not b %}2{% endif %}",
        );
        taken("{{ a | dump }}", "{% set a = vars.a %}{{ a | tojson }}");
        taken("{{ none_at_all | trim }}", "{% set none_at_all = \"\" %}{{ none_at_all | trim }}");
        taken(
            "{{ some | default(\"plain\") }}",
            "{% if vars.some is defined %}{% set some = vars.some %}{% endif %}{{ some | default(\"plain\") }}",
        );
    }

    #[test]
    fn what_nunjucks_understands_otherwise_is_refused() {
        for (text, why) in [
            ("{% include \"x\" %}", "template logic `{% include \"x\" %}`"),
            ("{% for a, b in c %}", "template logic `{% for a, b in c %}`"),
            ("{{ a === 1 }}", "the expression `a === 1`"),
            ("{{ a.length }}", "the expression `a.length`"),
            ("{{ a | mine }}", "the expression `a | mine`"),
            ("{{ env.KEY | upper }}", "the expression `env.KEY | upper`"),
            ("{{ a.f() }}", "the expression `a.f()`"),
            ("{% if a", "the tag `{% if a` is not closed by `%}`"),
        ] {
            taken(text, &format!("refused: {why}"));
        }
    }
}
