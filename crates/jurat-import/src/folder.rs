//! The files that a configuration refers to.

use jurat_format::source::ReadError;

/// Files beside a configuration, by paths relative to its folder. What lies outside of that folder is not there: a configuration
/// from elsewhere must not copy private files into what is written.
pub trait Folder {
    /// The bytes of a file, unless it has more than `limit`.
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// All files below the folder, in order of their names; at most some thousands.
    fn list(&self) -> Vec<String>;
}

/// A folder without files, for sources that come from memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFolder;

impl Folder for NoFolder {
    fn read(&self, _: &str, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }

    fn list(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A path as configurations write it, made relative to their folder; `None` when it leads out of it.
pub(crate) fn inside(path: &str) -> Option<String> {
    if path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a path fits a pattern with `*`, `**` and `?`.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    fn from(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => path.is_empty(),
            [b'*', b'*', b'/', rest @ ..] => {
                from(rest, path) || path.iter().enumerate().any(|(ix, it)| *it == b'/' && from(rest, &path[ix + 1..]))
            }
            [b'*', rest @ ..] => {
                let end = path.iter().position(|it| *it == b'/').unwrap_or(path.len());
                (0..=end).any(|ix| from(rest, &path[ix..]))
            }
            [b'?', rest @ ..] => path.first().is_some_and(|it| *it != b'/') && from(rest, &path[1..]),
            [first, rest @ ..] => path.first() == Some(first) && from(rest, &path[1..]),
        }
    }
    // A pattern with many stars takes exponential time.
    pattern.bytes().filter(|it| *it == b'*').count() <= 6 && from(pattern.as_bytes(), path.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_folder() {
        assert_eq!(inside("./a/../b.txt").as_deref(), Some("b.txt"));
        assert_eq!(inside("a//b.txt").as_deref(), Some("a/b.txt"));
        for path in ["../b.txt", "a/../../b", "/etc/passwd", "~/key", "C:\\x", "..\\x"] {
            assert_eq!(inside(path), None, "{path}");
        }
    }

    #[test]
    fn patterns_are_those_of_shells() {
        for (pattern, path, expected) in [
            ("tests/*.yaml", "tests/a.yaml", true),
            ("tests/*.yaml", "tests/x/a.yaml", false),
            ("**/*.yaml", "tests/x/a.yaml", true),
            ("**/*.yaml", "a.yaml", true),
            ("a?.csv", "ab.csv", true),
            ("a?.csv", "a/.csv", false),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }
}
