//! Names in the form that jurat wants: ids of tasks, of cases and of runs.

use std::collections::HashSet;

use jurat_format::id;

/// Ids of one kind that were given, without regard to case: tasks and evaluators must not share one.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// An id made of `wanted`, with a number behind it when it is taken.
    pub(crate) fn unique(&mut self, wanted: &str) -> String {
        let wanted = shortened(&id::repaired(wanted));
        let numbered = (2_u64..).map(|n| format!("{wanted}_{n}"));
        let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
        let free = candidates.find(|it| self.0.insert(it.to_ascii_lowercase()));
        free.expect("numbers do not run out")
    }
}

fn shortened(id: &str) -> String {
    const MOST: usize = 60;
    id.chars().take(MOST).collect()
}

/// A name as `identity` of an artifact takes it: lower-case letters, digits, `_` and `-`, and no other first character than a letter or digit.
pub(crate) fn identity(text: &str, otherwise: &str) -> String {
    let mapped: String = text
        .chars()
        .take(100)
        .map(|it| it.to_ascii_lowercase())
        .map(|it| if it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_' { it } else { '-' })
        .collect();
    let trimmed = mapped.trim_matches(['-', '_']);
    if trimmed.is_empty() { otherwise.to_owned() } else { trimmed.to_owned() }
}

/// [`identity`] with the first six letters or digits of a source's own id behind it, so that equal names stay apart.
pub(crate) fn identity_with(text: &str, otherwise: &str, source_id: &str) -> String {
    let tail: String = source_id.chars().filter(char::is_ascii_alphanumeric).take(6).collect();
    let tail = if tail.is_empty() { digest(source_id.as_bytes())[..6].to_owned() } else { tail };
    format!("{}-{}", identity(text, otherwise), tail.to_ascii_lowercase())
}

/// A run id: letters of both cases, digits, `.`, `_`, `:` and `-`; the first is a letter or digit.
pub(crate) fn run_id(text: &str) -> String {
    let is_fine = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | ':' | '-');
    let is_whole = text.chars().all(|it| is_fine(&it)) && text.starts_with(|it: char| it.is_ascii_alphanumeric());
    match is_whole && text.len() <= 200 {
        true => text.to_owned(),
        // What was replaced must not make two ids one.
        false => format!("{}-{}", identity(text, "run"), &digest(text.as_bytes())[..8]),
    }
}

/// The beginning of the hash of bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_ids_are_unique_without_regard_to_case() {
        let mut names = Names::default();
        assert_eq!(names.unique("icontains"), "icontains");
        assert_eq!(names.unique("Icontains"), "Icontains_2");
        assert_eq!(names.unique("is json"), "is_json");
        assert_eq!(names.unique("5"), "_5");
    }

    #[test]
    fn identities_are_lower_case() {
        assert_eq!(identity("Shop Assistant", "x"), "shop-assistant");
        assert_eq!(identity("!!", "trace"), "trace");
        assert_eq!(identity_with("ChatCompletion", "x", "33ffef56b0"), "chatcompletion-33ffef");
        assert_eq!(run_id("a.b:1"), "a.b:1");
        assert_ne!(run_id("a/b"), run_id("a b"));
    }
}
