//! The tokens of a Python text: as much as it takes to find texts, comments, brackets and joined lines.

use std::ops::Range;

/// Why a text is not Python.
#[derive(Debug)]
pub(crate) struct TokenError {
    pub(crate) message: String,
    /// Where, in bytes.
    pub(crate) at: Range<usize>,
}

fn wrong(message: impl Into<String>, at: Range<usize>) -> TokenError {
    TokenError { message: message.into(), at }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a number.
    Word,
    Text,
    Mark,
    LineEnd,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Where it stands, in bytes.
    pub(crate) at: Range<usize>,
    /// How many brackets are open around it; a bracket counts as standing outside of itself.
    pub(crate) depth: usize,
    /// How far the line it stands in is indented.
    pub(crate) column: usize,
}

impl Token {
    pub(crate) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.at.clone()).unwrap_or_default()
    }
}

/// The tokens of a text. Lines end where no bracket is open.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, TokenError> {
    let mut scanner = Scanner { text, at: 0, open: Vec::new(), tokens: Vec::new(), column: 0 };
    let mut is_line_start = true;
    while let Some(next) = scanner.peek() {
        if is_line_start && scanner.open.is_empty() {
            let line = &text[scanner.at..];
            scanner.column = line.len() - line.trim_start_matches([' ', '\t', '\u{c}']).len();
            is_line_start = false;
        }
        let start = scanner.at;
        match next {
            '\n' => {
                if scanner.open.is_empty() {
                    scanner.push(Kind::LineEnd, start..start + 1);
                    is_line_start = true;
                }
                scanner.at += 1;
            }
            '#' => scanner.at += text[start..].find('\n').unwrap_or(text.len() - start),
            '\\' if text[start + 1..].trim_start_matches('\r').starts_with('\n') => {
                scanner.at += text[start..].find('\n').map_or(1, |it| it + 1);
            }
            it if it.is_whitespace() => scanner.at += it.len_utf8(),
            '"' | '\'' => scanner.string(start, false, false)?,
            '.' if text[start + 1..].starts_with(|it: char| it.is_ascii_digit()) => scanner.number(),
            it if it.is_ascii_digit() => scanner.number(),
            it if it.is_alphanumeric() || it == '_' => scanner.word()?,
            '(' | '[' | '{' => {
                scanner.push(Kind::Mark, start..start + 1);
                scanner.open.push((next, start));
                scanner.at += 1;
            }
            ')' | ']' | '}' => scanner.close(next)?,
            other => {
                let end = start + other.len_utf8();
                scanner.push(Kind::Mark, start..end);
                scanner.at = end;
            }
        }
    }
    match scanner.open.first() {
        Some((bracket, at)) => Err(wrong(format!("`{bracket}` is never closed"), *at..*at + 1)),
        None => Ok(scanner.tokens),
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    open: Vec<(char, usize)>,
    tokens: Vec<Token>,
    column: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn push(&mut self, kind: Kind, at: Range<usize>) {
        self.tokens.push(Token { kind, at, depth: self.open.len(), column: self.column });
    }

    fn close(&mut self, bracket: char) -> Result<(), TokenError> {
        let at = self.at..self.at + 1;
        let wanted = match bracket {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match self.open.pop() {
            Some((open, _)) if open == wanted => {}
            Some((open, _)) => return Err(wrong(format!("`{bracket}` does not close `{open}`"), at)),
            None => return Err(wrong(format!("`{bracket}` closes nothing"), at)),
        }
        self.push(Kind::Mark, at);
        self.at += 1;
        Ok(())
    }

    /// A number, with whatever letters a number may have.
    fn number(&mut self) {
        let (start, mut before) = (self.at, ' ');
        while let Some(it) = self.peek() {
            let is_sign_of_exponent = matches!(it, '+' | '-') && matches!(before, 'e' | 'E');
            if !(it.is_alphanumeric() || it == '.' || it == '_' || is_sign_of_exponent) {
                break;
            }
            (before, self.at) = (it, self.at + it.len_utf8());
        }
        self.push(Kind::Word, start..self.at);
    }

    /// A name, or what stands before a text.
    fn word(&mut self) -> Result<(), TokenError> {
        let rest = &self.text[self.at..];
        let length = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
        let (word, start) = (&rest[..length], self.at);
        let is_prefix = length <= 2 && word.chars().all(|it| "rRbBuUfFtT".contains(it));
        if is_prefix && rest[length..].starts_with(['"', '\'']) {
            self.at += length;
            let has = |letter: char| word.contains([letter, letter.to_ascii_uppercase()]);
            return self.string(start, has('r'), has('f') || has('t'));
        }
        self.push(Kind::Word, start..start + length);
        self.at += length;
        Ok(())
    }

    /// A text, whose opening quote is next. Fields of a formatted text hold texts of their own.
    fn string(&mut self, start: usize, is_raw: bool, is_formatted: bool) -> Result<(), TokenError> {
        let quote = &self.text[self.at..=self.at];
        let closing =
            if self.text[self.at..].starts_with(&quote.repeat(3)) { quote.repeat(3) } else { quote.to_owned() };
        let is_long = closing.len() == 3;
        self.at += closing.len();
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with(&closing) {
                self.at += closing.len();
                self.push(Kind::Text, start..self.at);
                return Ok(());
            }
            match rest.chars().next() {
                None => break,
                Some('\n') if !is_long => break,
                // A backslash keeps the next quote from ending the text, in raw texts too.
                Some('\\') => {
                    let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
                    let is_field = is_raw && is_formatted && rest[1..].starts_with('{');
                    self.at += 1 + if is_field { 0 } else { escaped };
                }
                Some('{') if is_formatted && rest.starts_with("{{") => self.at += 2,
                Some('{') if is_formatted => self.field(&closing)?,
                Some(other) => self.at += other.len_utf8(),
            }
        }
        let end = start + self.text[start..].find('\n').unwrap_or(self.text.len() - start);
        Err(wrong("a text that is never closed", start..end.max(start + 1)))
    }

    /// A field of a formatted text: up to the bracket that closes it, over texts inside of it. A quote that would end the text around it does
    /// so unless it begins a text that is closed within the field.
    fn field(&mut self, closing: &str) -> Result<(), TokenError> {
        let mut depth = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                '\n' if closing.len() == 1 => return Ok(()),
                '"' | '\'' => {
                    let (before, n_tokens) = (self.at, self.tokens.len());
                    if self.string(before, false, false).is_err() {
                        self.at = before;
                        return Ok(());
                    }
                    self.tokens.truncate(n_tokens);
                    continue;
                }
                _ => {}
            }
            self.at += next.len_utf8();
            if depth == 0 {
                return Ok(());
            }
        }
        Ok(())
    }
}
