//! Rust read as words and signs: comments, strings and lifetimes are gone, and so cannot be mistaken for code.

/// A word, or a sign; `::` is one sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// A path as it stands in code, or as a `use` spells it out: `use std::{fs, io}` holds two.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path<'t> {
    pub(crate) segments: Vec<&'t str>,
    pub(crate) line: usize,
    pub(crate) role: Role,
}

/// What a path is there for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Role {
    /// A `use` brings it into scope, whole or as the place of a `*`.
    Imported,
    /// A macro is called by it.
    Macro,
    /// Anything else: a type, a value, a function, a local.
    Named,
}

/// Reads Rust into tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { text, at: 0, line: 1 };
    std::iter::from_fn(|| reader.next()).collect()
}

/// Finds the paths, in the order they stand.
pub(crate) fn paths<'t>(tokens: &[Token<'t>]) -> Vec<Path<'t>> {
    let text = |at: usize| tokens.get(at).map_or("", |it| it.text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let word = text(at);
        if word == "use" || (word == "extern" && text(at + 1) == "crate") {
            let start = if word == "use" { at + 1 } else { at + 2 };
            at = use_tree(tokens, start, &[], &mut found).max(start);
        } else if is_word(word) && (at == 0 || text(at - 1) != ".") {
            let line = tokens[at].line;
            let mut segments = vec![word];
            while text(at + 1) == "::" && is_word(text(at + 2)) {
                segments.push(text(at + 2));
                at += 2;
            }
            let called = text(at + 1) == "!" && matches!(text(at + 2), "(" | "[" | "{");
            found.push(Path { segments, line, role: if called { Role::Macro } else { Role::Named } });
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Reads one tree of a `use` and returns where it ends.
fn use_tree<'t>(tokens: &[Token<'t>], mut at: usize, prefix: &[&'t str], found: &mut Vec<Path<'t>>) -> usize {
    let mut segments = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.text {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|it| it.text != "}") {
                    // Something that is not a tree, such as the `,` between two, is stepped over.
                    at = use_tree(tokens, at, &segments, found).max(at + 1);
                }
                return at + 1;
            }
            word if is_word(word) || word == "*" => {
                if is_word(word) && (word != "self" || segments.is_empty()) {
                    segments.push(word);
                }
                at += 1;
                if tokens.get(at).is_none_or(|it| it.text != "::") {
                    found.push(Path { segments, line: token.line, role: Role::Imported });
                    let renamed = tokens.get(at).is_some_and(|it| it.text == "as");
                    return if renamed { at + 2 } else { at };
                }
            }
            _ => return at,
        }
    }
    at
}

fn is_word(text: &str) -> bool {
    text.starts_with(in_word)
}

fn in_word(it: char) -> bool {
    it == '_' || it.is_alphanumeric()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            if first.is_whitespace() {
                self.skip(first.len_utf8());
            } else if rest.starts_with("//") {
                self.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                self.skip(block_comment(rest));
            } else if let Some(length) = string(rest) {
                self.skip(length);
            } else if first == '\'' {
                self.skip(quote(rest));
            } else if rest.starts_with("r#") {
                // A raw word: what follows is the word itself.
                self.skip(2);
            } else {
                let length = match first {
                    _ if in_word(first) => rest.find(|it| !in_word(it)).unwrap_or(rest.len()),
                    ':' if rest.starts_with("::") => 2,
                    _ => first.len_utf8(),
                };
                let token = Token { text: &rest[..length], line: self.line };
                self.skip(length);
                return Some(token);
            }
        }
    }

    fn skip(&mut self, length: usize) {
        self.line += self.text[self.at..self.at + length].matches('\n').count();
        self.at += length;
    }
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of the string at the start of the text, if one starts there: `"…"`, `b"…"`, `c"…"`, `r#"…"#` and so on.
fn string(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|it| text.starts_with(it))?;
    let body = &text[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let inside = body[hashes..].strip_prefix('"')?;
        let closing = format!("\"{}", "#".repeat(hashes));
        let end = inside.find(&closing).map_or(inside.len(), |at| at + closing.len());
        return Some(prefix.len() + hashes + 1 + end);
    }
    let inside = body.strip_prefix('"')?;
    Some(prefix.len() + 1 + closed_by('"', inside))
}

/// The length of what starts with `'`: a character, or the sign and name of a lifetime.
fn quote(text: &str) -> usize {
    let inside = &text[1..];
    let mut chars = inside.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => 1 + closed_by('\'', inside),
        _ => 1 + inside.find(|it| !in_word(it)).unwrap_or(inside.len()),
    }
}

/// How far it is to the end of a literal, past its closing sign, minding escapes.
fn closed_by(sign: char, inside: &str) -> usize {
    let mut escaped = false;
    for (at, it) in inside.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if it == sign => return at + it.len_utf8(),
            _ => {}
        }
    }
    inside.len()
}

#[track_caller]
fn read(text: &str, words: &str) {
    assert_eq!(tokens(text).iter().map(|it| it.text).collect::<Vec<_>>().join(" "), words);
}

#[test]
fn comments_and_literals_are_no_tokens() {
    read("a // b\nc /* d /* e */ f */ g", "a c g");
    read(r##"a("b \" c", b"d", r"e\", r#"f " g"#, c"h", i)"##, "a ( , , , , , i )");
    read(
        r"fn f<'a>(x: &'a str, y: '\'', z: 'z', u: '\u{e9}') -> &'static T",
        "fn f < > ( x : & str , y : , z : , u : ) - > & T",
    );
    read("r#fn::crab(brr)", "fn :: crab ( brr )");
    assert_eq!(tokens("\"a\nb\" /*\n*/ c").last(), Some(&Token { text: "c", line: 3 }));
}

#[track_caller]
fn named(text: &str, expected: &[&str]) {
    let found = paths(&tokens(text));
    let shown: Vec<String> = found
        .iter()
        .map(|it| match it.role {
            Role::Imported => format!("use {}", it.segments.join("::")),
            Role::Macro => format!("{}!", it.segments.join("::")),
            Role::Named => it.segments.join("::"),
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn a_use_is_spelt_out() {
    named("use std::fs;", &["use std::fs"]);
    named(
        "use std::{fs, io::{self, Write as _}, time::*,};",
        &["use std::fs", "use std::io", "use std::io::Write", "use std::time"],
    );
    named("use ::std as s; extern crate tokio as t; a", &["use std", "use tokio", "a"]);
}

#[test]
fn paths_stand_anywhere() {
    named("let x = std::fs::read(y.std)?;", &["let", "x", "std::fs::read", "y"]);
    named("std::println!(\"{}\", a::<T>::b) != c", &["std::println!", "a", "T", "b", "c"]);
}
