//! Regular expressions of JavaScript, written for the operator `matches`.
//!
//! Both know the same constructs, but mean other characters by `.`, `\d`, `\w`, `\s` and `\b`, and JavaScript reads a brace or an
//! unknown escape as itself. A pattern that JavaScript refuses is refused here, because promptfoo fails on it.

use std::iter::Peekable;
use std::str::Chars;

use jurat_compare::pattern::Pattern;

/// A pattern that matches the same texts.
pub(super) fn translated(pattern: &str) -> Result<String, String> {
    let ascii = Translation::new(pattern, r"(?-u:\b)", r"(?-u:\B)").whole()?;
    if Pattern::rust(&ascii).is_ok() {
        return Ok(ascii);
    }
    beside_look_around(pattern)
}

/// The same for a pattern that stands in a look-ahead, or has one: patterns that need backtracking know no word boundary of ASCII letters.
pub(super) fn beside_look_around(pattern: &str) -> Result<String, String> {
    const BOUNDARY: &str = "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))";
    const NO_BOUNDARY: &str = "(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))";
    let translated = Translation::new(pattern, BOUNDARY, NO_BOUNDARY).whole()?;
    match Pattern::rust(&translated) {
        Ok(_) => Ok(translated),
        Err(error) => Err(format!("not a regular expression: {}", error.message)),
    }
}

/// A pattern that matches exactly this text.
pub(super) fn literal(text: &str) -> String {
    text.chars().map(escaped).collect()
}

fn escaped(it: char) -> String {
    match it {
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => format!("\\{it}"),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        it if it.is_control() => format!("\\x{{{:x}}}", u32::from(it)),
        it => it.to_string(),
    }
}

/// A character in a class, where `-`, `&` and `~` have a meaning of their own in jurat.
fn escaped_in_class(it: char) -> String {
    match it {
        '-' | '&' | '~' | '#' => format!("\\{it}"),
        it => escaped(it),
    }
}

const DIGITS: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str = r"\s\u{feff}";

struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    boundary: &'static str,
    no_boundary: &'static str,
    /// Whether what stands before can be repeated.
    is_repeatable: bool,
}

impl<'p> Translation<'p> {
    fn new(pattern: &'p str, boundary: &'static str, no_boundary: &'static str) -> Translation<'p> {
        Translation {
            rest: pattern.chars().peekable(),
            out: String::new(),
            boundary,
            no_boundary,
            is_repeatable: false,
        }
    }

    fn whole(mut self) -> Result<String, String> {
        while let Some(it) = self.rest.next() {
            self.part(it)?;
        }
        Ok(self.out)
    }

    fn part(&mut self, it: char) -> Result<(), String> {
        let is_repeatable = match it {
            '\\' => return self.escape(),
            '.' => {
                self.out += r"[^\n\r\u{2028}\u{2029}]";
                true
            }
            '[' => {
                self.class()?;
                true
            }
            '(' => {
                self.group()?;
                false
            }
            '*' | '+' | '?' => return self.repeat(&it.to_string()),
            '{' => return self.brace(),
            '|' | '^' => {
                self.out.push(it);
                false
            }
            '$' => {
                self.out.push('$');
                false
            }
            ')' => {
                self.out.push(')');
                true
            }
            other => {
                self.out += &escaped(other);
                true
            }
        };
        self.is_repeatable = is_repeatable;
        Ok(())
    }

    fn repeat(&mut self, quantifier: &str) -> Result<(), String> {
        if !self.is_repeatable {
            return Err(format!("JavaScript refuses it: nothing to repeat before `{quantifier}`"));
        }
        self.out += quantifier;
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.is_repeatable = false;
        Ok(())
    }

    /// A number of repetitions, or a brace that stands for itself.
    fn brace(&mut self) -> Result<(), String> {
        let ahead: String = self.rest.clone().take_while(|it| *it != '}').collect();
        let is_count = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let is_quantifier = match ahead.split_once(',') {
            None => is_count(&ahead),
            Some((least, most)) => is_count(least) && (most.is_empty() || is_count(most)),
        };
        if !is_quantifier || self.rest.clone().nth(ahead.chars().count()) != Some('}') {
            self.out += "\\{";
            self.is_repeatable = true;
            return Ok(());
        }
        self.rest.nth(ahead.chars().count());
        self.repeat(&format!("{{{ahead}}}"))
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        let ahead: String = self.rest.clone().take(2).collect();
        let is_known = ahead.starts_with([':', '=', '!'])
            || ahead.starts_with("<=")
            || ahead.starts_with("<!")
            || ahead.strip_prefix('<').is_some_and(|it| it.starts_with(|it: char| it.is_alphabetic() || it == '_'));
        if !is_known {
            return Err(format!("JavaScript refuses it: `(?{}` opens no group", ahead.chars().next().unwrap_or(' ')));
        }
        let n_copied = if ahead.starts_with(':') || ahead.starts_with(['=', '!']) { 1 } else { 2 };
        self.out.extend(self.rest.by_ref().take(n_copied));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let it = self.rest.next().ok_or("JavaScript refuses it: `\\` at the end")?;
        self.is_repeatable = !matches!(it, 'b' | 'B');
        let out = match it {
            'd' => format!("[{DIGITS}]"),
            'D' => format!("[^{DIGITS}]"),
            'w' => format!("[{WORD}]"),
            'W' => format!("[^{WORD}]"),
            's' => format!("[{SPACE}]"),
            'S' => format!("[^{SPACE}]"),
            'b' => self.boundary.to_owned(),
            'B' => self.no_boundary.to_owned(),
            '1'..='9' => {
                let mut number = it.to_string();
                while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
                    number.push(digit);
                }
                format!("\\{number}")
            }
            'k' if self.rest.peek() == Some(&'<') => "\\k".to_owned(),
            other => escaped(self.character(other)?),
        };
        self.out += &out;
        Ok(())
    }

    /// The character that an escape stands for.
    fn character(&mut self, it: char) -> Result<char, String> {
        Ok(match it {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            'v' => '\x0b',
            '0' => '\0',
            'x' => self.hexadecimal(2).unwrap_or('x'),
            'u' if self.rest.peek() == Some(&'{') => return Err("`\\u{…}` without the flag `u`".to_owned()),
            'u' => match self.code_unit() {
                None => 'u',
                Some(unit) => self.after_unit(unit)?,
            },
            'c' => match self.rest.next_if(char::is_ascii_alphabetic) {
                Some(letter) => char::from(letter as u8 & 0x1f),
                None => return Err("`\\c` without a letter".to_owned()),
            },
            other => other,
        })
    }

    /// The character that begins with this unit of UTF-16.
    fn after_unit(&mut self, unit: u32) -> Result<char, String> {
        if let Some(it) = char::from_u32(unit) {
            return Ok(it);
        }
        let low = (self.rest.next() == Some('\\') && self.rest.next() == Some('u')).then(|| self.code_unit()).flatten();
        let units = [unit as u16, low.unwrap_or(0) as u16];
        match char::decode_utf16(units).next() {
            Some(Ok(it)) => Ok(it),
            _ => Err("half of a character (a lone surrogate)".to_owned()),
        }
    }

    fn code_unit(&mut self) -> Option<u32> {
        let ahead: String = self.rest.clone().take(4).collect();
        let unit = (ahead.len() == 4).then(|| u32::from_str_radix(&ahead, 16).ok()).flatten()?;
        self.rest.nth(3);
        Some(unit)
    }

    fn hexadecimal(&mut self, n: usize) -> Option<char> {
        let ahead: String = self.rest.clone().take(n).collect();
        let number = (ahead.len() == n).then(|| u32::from_str_radix(&ahead, 16).ok()).flatten()?;
        self.rest.nth(n - 1);
        char::from_u32(number)
    }

    /// A class of characters, behind its bracket.
    fn class(&mut self) -> Result<(), String> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            self.out += if is_negated { r"[\s\S]" } else { r"[^\s\S]" };
            return Ok(());
        }
        self.out += if is_negated { "[^" } else { "[" };
        loop {
            match self.rest.next() {
                None => return Err("JavaScript refuses it: `[` is not closed".to_owned()),
                Some(']') => break,
                Some('-') => {
                    let is_range = self.is_range();
                    self.out += if is_range { "-" } else { "\\-" };
                }
                Some('\\') => self.class_escape()?,
                Some(it) => self.out += &escaped_in_class(it),
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// Whether a hyphen stands between two characters.
    fn is_range(&mut self) -> bool {
        let is_first = self.out.ends_with('[') && !self.out.ends_with("\\[") || self.out.ends_with("[^");
        !is_first && self.rest.peek() != Some(&']')
    }

    fn class_escape(&mut self) -> Result<(), String> {
        let it = self.rest.next().ok_or("JavaScript refuses it: `[` is not closed")?;
        let out = match it {
            'd' => DIGITS.to_owned(),
            'w' => WORD.to_owned(),
            's' => SPACE.to_owned(),
            'D' => format!("[^{DIGITS}]"),
            'W' => format!("[^{WORD}]"),
            'S' => format!("[^{SPACE}]"),
            'b' => r"\x08".to_owned(),
            other => escaped_in_class(self.character(other)?),
        };
        self.out += &out;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn matches(pattern: &str, text: &str, expected: bool) {
        let translated = translated(pattern).expect("a pattern");
        let found = Pattern::rust(&translated).expect("a pattern of jurat").is_match(text);
        assert_eq!(found, Ok(expected), "{pattern} as {translated} on {text:?}");
    }

    #[test]
    fn texts_match_as_in_javascript() {
        matches(r"^\d{3}$", "123", true);
        matches(r"\d", "٣", false);
        matches(r"\w", "é", false);
        matches(r"a.b", "a\u{2028}b", false);
        matches(r"a.b", "a😀b", true);
        matches(r"{a}", "{a}", true);
        matches(r"a{,2}", "a{,2}", true);
        matches(r"[^]", "\n", true);
        matches(r"[\w-]+$", "a-b", true);
        matches(r"[a\-z]", "m", false);
        matches(r"[a&&b]", "&", true);
        matches(r"[[a]", "[", true);
        matches(r"é", "é", true);
        matches(r"😀", "😀", true);
        matches(r"\bworld\b", "hello world", true);
        matches(r"(?<!x)5", "x5", false);
        matches(r"(?=w)\bw\B", "éwo", true);
        matches(r"(a)\1", "aa", true);
        matches(r"(?<n>a)\k<n>", "aa", true);
        matches(r"\/path\-x", "/path-x", true);
        matches(r"\q", "q", true);
        matches("#a b", "#a b", true);
    }

    #[test]
    fn what_javascript_refuses_is_refused() {
        for (pattern, why) in [
            ("(?i)hello", "JavaScript refuses it: `(?i` opens no group"),
            ("(?P<n>a)", "JavaScript refuses it: `(?P` opens no group"),
            ("a++", "JavaScript refuses it: nothing to repeat before `+`"),
            ("*a", "JavaScript refuses it: nothing to repeat before `*`"),
            ("[a", "JavaScript refuses it: `[` is not closed"),
        ] {
            assert_eq!(translated(pattern).unwrap_err(), why, "{pattern}");
        }
        assert!(translated("(a").unwrap_err().starts_with("not a regular expression"));
    }

    #[test]
    fn literals_match_themselves() {
        for text in ["a.b*c?", "[x] {y} (z)", "^$|\\ #-&~", "line\nline\t\u{7}"] {
            assert_eq!(Pattern::rust(&literal(text)).expect("a pattern").is_match(text), Ok(true), "{text}");
        }
    }
}
