//! Patterns of paths: `*` within a name, `**` across directories, `?` for one character, `[a-c]` for one of some.

use regex::Regex;

/// A pattern of paths with `/` between names.
#[derive(Debug, Clone)]
pub struct Glob {
    written: String,
    pattern: Regex,
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
        let names = format!("{path}{below}").split('/').map(name).collect::<Result<String, String>>()?;
        let pattern = Regex::new(&format!("^{names}$")).map_err(|error| error.to_string())?;
        Ok(Glob { written: written.to_owned(), pattern })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    pub fn matches(&self, path: &str) -> bool {
        self.pattern.is_match(&format!("/{path}"))
    }
}

/// A name of a path as a regular expression, with the `/` before it.
fn name(text: &str) -> Result<String, String> {
    if text == "**" {
        return Ok("(?:/[^/]*)*".to_owned());
    }
    let mut pattern = "/".to_owned();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '?' => pattern.push_str("[^/]"),
            '*' => pattern.push_str("[^/]*"),
            '[' => {
                let (set, rest) = letters.as_str().split_once(']').ok_or("`[` without `]`")?;
                letters = rest.chars();
                pattern.push_str(&one_of(set)?);
            }
            other => pattern.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok(pattern)
}

/// One of some characters, or none of them. No name has `/` in it.
fn one_of(set: &str) -> Result<String, String> {
    let (set, not) = match set.strip_prefix(['!', '^']) {
        Some(rest) => (rest, "^"),
        None => (set, ""),
    };
    let letters: Vec<char> = set.chars().collect();
    let mut rest = letters.as_slice();
    if rest.is_empty() {
        return Err("`[]` names no character".to_owned());
    }
    let mut ranges = String::new();
    while let [from, more @ ..] = rest {
        let to = if let ['-', to, ..] = more { to } else { from };
        rest = if let ['-', _, more @ ..] = more { more } else { more };
        // One that ends before it begins has no characters.
        if from <= to {
            ranges.push_str(&format!("\\x{{{:x}}}-\\x{{{:x}}}", u32::from(*from), u32::from(*to)));
        }
    }
    let ranges = if ranges.is_empty() { "/" } else { &ranges };
    Ok(format!("[[{not}{ranges}]&&[^/]]"))
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
        matched("a[!b]c", "a/c", false);
        matched("a[+-0]c", "a/c", false);
        matched("[z-a]", "m", false);
        matched("[!z-a]", "m", true);
        matched("[a-c-]", "-", true);
        matched("a.b", "axb", false);
        matched("./a", "a", true);
        matched("*a*b*", "xxaxxbxx", true);
        matched("*a*b*", "xxbxxaxx", false);
    }

    #[test]
    fn patterns_that_cannot_be_read() {
        let refused = |text: &str| Glob::parse(text).map(|_| ()).expect_err(text);
        assert_eq!(refused("[a"), "`[` without `]`");
        assert_eq!(refused(""), "a pattern needs at least one character");
        assert_eq!(refused("[]"), "`[]` names no character");
    }
}
