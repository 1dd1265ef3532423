//! The words of a Python text: names, texts, numbers, marks, and where lines and blocks begin and end.

use jurat_format::value::{Val, Value};

use super::syntax::Fault;
use crate::python_tokens::{Kind, tokens};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Number(Value),
    Mark(char),
    Newline,
    Indent,
    Dedent,
    End,
}

impl Token {
    pub(super) fn phrase(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Number(number) => format!("`{number}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Newline => "the end of the line".to_owned(),
            Token::Indent | Token::Dedent => "the indentation".to_owned(),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// The words of a text, each with its line. Indentation opens and closes blocks.
pub(super) fn words(source: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut lines = Lines { source, line: 1, at: 0 };
    let tokens = tokens(source).map_err(|it| Fault::new(lines.of(it.at.start), it.message))?;
    let (mut words, mut indents, mut is_line_start) = (Vec::new(), vec![0_usize], true);
    for token in &tokens {
        let line = lines.of(token.at.start);
        if token.kind == Kind::LineEnd {
            words.extend((!is_line_start).then_some((Token::Newline, line)));
            is_line_start = true;
            continue;
        }
        if std::mem::take(&mut is_line_start) {
            let space = source[..token.at.start].rsplit('\n').next().unwrap_or_default();
            if space.contains('\t') {
                return Err(Fault::new(line, "tabs at the start of a line"));
            }
            indent(&mut words, &mut indents, line, token.column)?;
        }
        let text = token.text(source);
        let word = match token.kind {
            Kind::Text => unquoted(text),
            _ if text.starts_with(|it: char| it.is_ascii_digit()) || text.len() > 1 && text.starts_with('.') => {
                number(text)
            }
            Kind::Word if text.starts_with(|it: char| it.is_alphabetic() || it == '_') => {
                Ok(Token::Name(text.to_owned()))
            }
            _ => match text.chars().next().filter(|it| "()[]{}:,=|.-".contains(*it)) {
                Some(mark) => Ok(Token::Mark(mark)),
                None => Err(format!("`{text}` is known only by running it")),
            },
        };
        words.push((word.map_err(|reason| Fault::new(line, reason))?, line));
    }
    let line = lines.of(source.len());
    words.push((Token::Newline, line));
    words.extend((1..indents.len()).map(|_| (Token::Dedent, line)));
    Ok(words)
}

/// The lines of places that come one after the other.
struct Lines<'s> {
    source: &'s str,
    line: usize,
    at: usize,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> usize {
        self.line += self.source[self.at..at].matches('\n').count();
        self.at = at;
        self.line
    }
}

/// Opens or closes the blocks that a line opens or closes by the space before it.
fn indent(words: &mut Vec<(Token, usize)>, indents: &mut Vec<usize>, line: usize, width: usize) -> Result<(), Fault> {
    if indents.last().is_some_and(|it| width > *it) {
        indents.push(width);
        words.push((Token::Indent, line));
    }
    while indents.last().is_some_and(|it| *it > width) {
        indents.pop();
        words.push((Token::Dedent, line));
    }
    match indents.last() == Some(&width) {
        true => Ok(()),
        false => Err(Fault::new(line, "an indentation that fits no line above")),
    }
}

fn number(written: &str) -> Result<Token, String> {
    let digits = written.replace('_', "");
    match digits.parse::<i64>() {
        Ok(number) if !digits.starts_with('0') || digits.bytes().all(|it| it == b'0') => {
            Ok(Token::Number(Val::I(number)))
        }
        _ => match digits.parse::<f64>() {
            Ok(number) if number.is_finite() && digits.contains(['.', 'e', 'E']) => Ok(Token::Number(Val::F(number))),
            _ => Err(format!("`{written}` is a number that is not read here")),
        },
    }
}

/// What a text says that is written in quotes.
fn unquoted(written: &str) -> Result<Token, String> {
    let (prefix, quoted) = written.split_at(written.find(['"', '\'']).unwrap_or(0));
    let is_raw = match prefix.to_ascii_lowercase().as_str() {
        "" | "u" => false,
        "r" => true,
        _ => return Err(format!("what a text with `{prefix}` before it says is known only by running it")),
    };
    let n_quotes = if quoted.len() >= 6 && quoted.starts_with(&quoted[..1].repeat(3)) { 3 } else { 1 };
    let mut rest = &quoted[n_quotes..quoted.len() - n_quotes];
    if is_raw {
        return Ok(Token::Text(rest.to_owned()));
    }
    let mut text = String::new();
    while let Some((plain, escaped)) = rest.split_once('\\') {
        text.push_str(plain);
        rest = escape(escaped, &mut text)?;
    }
    Ok(Token::Text(text + rest))
}

/// Adds what a backslash and what comes behind it stand for, and returns what is left.
fn escape<'t>(rest: &'t str, text: &mut String) -> Result<&'t str, String> {
    let Some(it) = rest.chars().next() else { return Ok(rest) };
    let rest = &rest[it.len_utf8()..];
    let length = match it {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        'N' | 'a' | 'b' | 'f' | 'v' | '0'..='7' => return Err(format!("`\\{it}` is not read here")),
        _ => {
            match it {
                '\n' => {}
                '\\' | '\'' | '"' => text.push(it),
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                _ => text.extend(['\\', it]),
            }
            return Ok(rest);
        }
    };
    let digits = rest.get(..length).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
    let code = digits.and_then(|it| u32::from_str_radix(it, 16).ok()).and_then(char::from_u32);
    text.push(code.ok_or_else(|| format!("`\\{it}` without {length} digits of a character"))?);
    Ok(&rest[length..])
}
