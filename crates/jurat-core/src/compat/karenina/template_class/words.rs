//! The words of a Python text: names, texts, numbers, marks, and where lines and blocks begin and end.

use jurat_format::value::{Val, Value};

use super::syntax::Fault;

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

/// The words of a text. Lines end where no bracket is open; indentation opens and closes blocks.
pub(super) fn words(source: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut scanner = Scanner { rest: source, line: 1, tokens: Vec::new() };
    let (mut indents, mut n_open, mut is_line_start) = (vec![0_usize], 0_usize, true);
    loop {
        if is_line_start && n_open == 0 {
            let width = scanner.indentation()?;
            match scanner.rest.chars().next() {
                None => break,
                Some('\n' | '\r' | '#') => {}
                Some(_) => {
                    is_line_start = false;
                    let now = indents.last().copied().unwrap_or(0);
                    if width > now {
                        indents.push(width);
                        scanner.push(Token::Indent);
                    }
                    while indents.last().is_some_and(|it| *it > width) {
                        indents.pop();
                        scanner.push(Token::Dedent);
                    }
                    if indents.last() != Some(&width) {
                        return Err(scanner.fault("an indentation that fits no line above"));
                    }
                }
            }
        }
        let Some(next) = scanner.rest.chars().next() else { break };
        match next {
            '\n' => {
                if n_open == 0 && !is_line_start {
                    scanner.push(Token::Newline);
                    is_line_start = true;
                }
                scanner.skip(1);
                scanner.line += 1;
            }
            ' ' | '\t' | '\r' => scanner.skip(1),
            '#' => scanner.skip(scanner.rest.find('\n').unwrap_or(scanner.rest.len())),
            '\\' if scanner.rest[1..].trim_start_matches('\r').starts_with('\n') => {
                scanner.skip(scanner.rest.find('\n').unwrap_or(0) + 1);
                scanner.line += 1;
            }
            '"' | '\'' => scanner.text(false)?,
            it if it.is_alphabetic() || it == '_' => scanner.word()?,
            it if it.is_ascii_digit() => scanner.number()?,
            '.' if scanner.rest[1..].starts_with(|it: char| it.is_ascii_digit()) => scanner.number()?,
            it if "()[]{}:,=|.-".contains(it) => {
                match it {
                    '(' | '[' | '{' => n_open += 1,
                    ')' | ']' | '}' => n_open = n_open.saturating_sub(1),
                    _ => {}
                }
                scanner.push(Token::Mark(it));
                scanner.skip(1);
            }
            other => return Err(scanner.fault(format!("`{other}` is known only by running it"))),
        }
    }
    scanner.push(Token::Newline);
    for _ in 1..indents.len() {
        scanner.push(Token::Dedent);
    }
    Ok(scanner.tokens)
}

struct Scanner<'s> {
    rest: &'s str,
    line: usize,
    tokens: Vec<(Token, usize)>,
}

impl Scanner<'_> {
    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    fn skip(&mut self, n_bytes: usize) {
        self.rest = &self.rest[n_bytes..];
    }

    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::new(self.line, reason)
    }

    fn indentation(&mut self) -> Result<usize, Fault> {
        let width = self.rest.len() - self.rest.trim_start_matches(' ').len();
        self.skip(width);
        if self.rest.starts_with('\t') {
            return Err(self.fault("tabs at the start of a line"));
        }
        Ok(width)
    }

    fn word(&mut self) -> Result<(), Fault> {
        let length = self.rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(self.rest.len());
        let word = self.rest[..length].to_owned();
        if self.rest[length..].starts_with(['"', '\'']) && length <= 2 {
            self.skip(length);
            return match word.to_ascii_lowercase().as_str() {
                "r" => self.text(true),
                "u" => self.text(false),
                _ => Err(self.fault(format!("what a text with `{word}` before it says is known only by running it"))),
            };
        }
        self.push(Token::Name(word));
        self.skip(length);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let mut length = 0;
        let mut before = ' ';
        for it in self.rest.chars() {
            let is_sign_of_exponent = matches!(it, '+' | '-') && matches!(before, 'e' | 'E');
            if !(it.is_ascii_alphanumeric() || it == '.' || it == '_' || is_sign_of_exponent) {
                break;
            }
            (before, length) = (it, length + it.len_utf8());
        }
        let written = &self.rest[..length];
        let digits = written.replace('_', "");
        let number = match digits.parse::<i64>() {
            Ok(number) if !digits.starts_with('0') || digits.bytes().all(|it| it == b'0') => Val::I(number),
            _ => match digits.parse::<f64>() {
                Ok(number) if number.is_finite() && digits.contains(['.', 'e', 'E']) => Val::F(number),
                _ => return Err(self.fault(format!("`{written}` is a number that is not read here"))),
            },
        };
        self.push(Token::Number(number));
        self.skip(length);
        Ok(())
    }

    /// A text, whose opening quote is next.
    fn text(&mut self, is_raw: bool) -> Result<(), Fault> {
        let quote = &self.rest[..1];
        let is_long = self.rest.starts_with(&quote.repeat(3));
        let closing = quote.repeat(if is_long { 3 } else { 1 });
        self.skip(closing.len());
        let (start, mut text) = (self.line, String::new());
        loop {
            if self.rest.starts_with(&closing) {
                self.skip(closing.len());
                self.tokens.push((Token::Text(text), start));
                return Ok(());
            }
            match self.rest.chars().next() {
                None => return Err(Fault::new(start, "a text without an end")),
                Some('\n') if !is_long => return Err(Fault::new(start, "a text without an end")),
                Some('\\') => self.escape(is_raw, &mut text)?,
                Some(it) => {
                    self.line += usize::from(it == '\n');
                    text.push(it);
                    self.skip(it.len_utf8());
                }
            }
        }
    }

    /// What a backslash and what comes behind it stand for.
    fn escape(&mut self, is_raw: bool, text: &mut String) -> Result<(), Fault> {
        self.skip(1);
        let Some(it) = self.rest.chars().next() else { return Err(self.fault("a text without an end")) };
        self.skip(it.len_utf8());
        self.line += usize::from(it == '\n');
        if is_raw {
            text.push('\\');
            text.push(it);
            return Ok(());
        }
        let length = match it {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => {
                text.push(it);
                return Ok(());
            }
            'n' | 't' | 'r' => {
                text.push(match it {
                    'n' => '\n',
                    't' => '\t',
                    _ => '\r',
                });
                return Ok(());
            }
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'N' | 'a' | 'b' | 'f' | 'v' | '0'..='7' => return Err(self.fault(format!("`\\{it}` is not read here"))),
            _ => {
                text.push('\\');
                text.push(it);
                return Ok(());
            }
        };
        let digits = self.rest.get(..length).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        let code = digits.and_then(|it| u32::from_str_radix(it, 16).ok()).and_then(char::from_u32);
        let code = code.ok_or_else(|| self.fault(format!("`\\{it}` without {length} digits of a character")))?;
        text.push(code);
        self.skip(length);
        Ok(())
    }
}
