//! Patterns of paths: `*` within a name, `**` across directories, `?` for one character, `[a-c]` for one of some.

/// A pattern of paths with `/` between names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    written: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`: any number of names.
    Names,
    Name(Vec<Piece>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `[…]`: these ranges, or none of them.
    Of(Vec<(char, char)>, bool),
}

impl Glob {
    /// Reads a pattern. One that ends with `/` means everything below a directory.
    ///
    /// ```
    /// use jurat_core::check::Glob;
    ///
    /// let glob = Glob::parse("docs/**/*.md").unwrap();
    /// assert!(glob.matches("docs/a.md") && glob.matches("docs/x/y/a.md"));
    /// assert!(!glob.matches("a.md"));
    /// ```
    pub fn parse(written: &str) -> Result<Glob, String> {
        if written.is_empty() {
            return Err("a pattern needs at least one character".to_owned());
        }
        let path = written.strip_prefix("./").unwrap_or(written);
        let below = if path.ends_with('/') { "**" } else { "" };
        let parts = format!("{path}{below}");
        let parts = parts.split('/').map(part).collect::<Result<_, _>>()?;
        Ok(Glob { written: written.to_owned(), parts })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    pub fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        fits(
            &self.parts,
            &names,
            |part| matches!(part, Part::Names),
            |part, name| match part {
                Part::Names => true,
                Part::Name(pieces) => {
                    let letters: Vec<char> = name.chars().collect();
                    fits(
                        pieces,
                        &letters,
                        |it| *it == Piece::Many,
                        |piece, letter| match piece {
                            Piece::Char(it) => it == letter,
                            Piece::One | Piece::Many => true,
                            Piece::Of(ranges, is_not) => {
                                ranges.iter().any(|(from, to)| (*from..=*to).contains(letter)) != *is_not
                            }
                        },
                    )
                }
            },
        )
    }
}

fn part(text: &str) -> Result<Part, String> {
    if text == "**" {
        return Ok(Part::Names);
    }
    let mut pieces = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        pieces.push(match letter {
            '?' => Piece::One,
            '*' => Piece::Many,
            '[' => {
                let (set, rest) = letters.as_str().split_once(']').ok_or("`[` without `]`")?;
                letters = rest.chars();
                one_of(set)?
            }
            other => Piece::Char(other),
        });
    }
    Ok(Part::Name(pieces))
}

fn one_of(set: &str) -> Result<Piece, String> {
    let (set, is_not) = match set.strip_prefix(['!', '^']) {
        Some(rest) => (rest, true),
        None => (set, false),
    };
    if set.is_empty() {
        return Err("`[]` names no character".to_owned());
    }
    let letters: Vec<char> = set.chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        match letters.get(at..at + 3) {
            Some([from, '-', to]) => {
                ranges.push((*from, *to));
                at += 3;
            }
            _ => {
                ranges.push((letters[at], letters[at]));
                at += 1;
            }
        }
    }
    Ok(Piece::Of(ranges, is_not))
}

/// Whether a list of patterns fits a list of things, where some patterns stand for any number of them. It goes back to the last
/// such pattern alone, which is enough, so it takes no more than the product of the lengths.
fn fits<P, T>(patterns: &[P], things: &[T], is_many: impl Fn(&P) -> bool, is_one: impl Fn(&P, &T) -> bool) -> bool {
    let (mut pattern, mut thing) = (0, 0);
    let mut last_many: Option<(usize, usize)> = None;
    while thing < things.len() {
        match patterns.get(pattern) {
            Some(it) if is_many(it) => {
                last_many = Some((pattern, thing));
                pattern += 1;
            }
            Some(it) if is_one(it, &things[thing]) => {
                pattern += 1;
                thing += 1;
            }
            _ => match &mut last_many {
                Some((many, from)) => {
                    *from += 1;
                    (pattern, thing) = (*many + 1, *from);
                }
                None => return false,
            },
        }
    }
    patterns[pattern..].iter().all(is_many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn matched(pattern: &str, path: &str, expected: bool) {
        assert_eq!(Glob::parse(pattern).map(|it| it.matches(path)), Ok(expected), "{pattern} {path}");
    }

    #[test]
    fn patterns_match_paths() {
        matched("report.md", "report.md", true);
        matched("report.md", "docs/report.md", false);
        matched("*.md", "report.md", true);
        matched("*.md", "docs/report.md", false);
        matched("**/*.md", "report.md", true);
        matched("**/*.md", "a/b/report.md", true);
        matched("docs/**", "docs/a/b", true);
        matched("docs/", "docs/a/b", true);
        matched("docs/", "docsa", false);
        matched("a/**/z", "a/z", true);
        matched("a/**/z", "a/b/c/z", true);
        matched("a/**/z", "a/b/c", false);
        matched("r?port-[0-9].t*t", "report-7.txt", true);
        matched("[!a]b", "ab", false);
        matched("[!a]b", "cb", true);
        matched("./a", "a", true);
        matched("*a*b*", "xxaxxbxx", true);
        matched("*a*b*", "xxbxxaxx", false);
    }

    #[test]
    fn patterns_that_cannot_be_read() {
        assert_eq!(Glob::parse("[a"), Err("`[` without `]`".to_owned()));
        assert_eq!(Glob::parse(""), Err("a pattern needs at least one character".to_owned()));
        assert_eq!(Glob::parse("[]"), Err("`[]` names no character".to_owned()));
    }
}
