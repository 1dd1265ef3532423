//! What a run made of texts that were there before: a unified diff for each, as people know it from version control.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jurat_core::agent::{FileKind, Walked, Workspace};
use jurat_core::check::MOST_TEXT;
use similar::TextDiff;

use crate::workspace::sha256;

/// How many bytes of one diff are stored.
const MOST_OF_ONE: usize = 64 << 10;

/// How many of all of them.
const MOST_OF_ALL: usize = 1 << 20;

/// Lines around a change.
const CONTEXT: usize = 3;

/// How long one may be thought about; after that it is coarser than it could be.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Compares texts that are different now with the template that they come from. What is no text, or was stored only in part, has no diff.
pub fn differences(template: &Path, before: &Walked, compared: &mut Workspace) {
    let mut room = MOST_OF_ALL;
    for path in &compared.changed {
        let Some((new, false)) = compared.texts.get(path) else { continue };
        let Some(old) = before.files.get(path).filter(|it| it.kind == FileKind::File && it.size <= MOST_TEXT) else {
            continue;
        };
        let source = template.join(path);
        // A template that was changed meanwhile is not what the run began with.
        if !sha256(&source).is_ok_and(|it| it == old.digest) {
            continue;
        }
        let Ok(old) = fs::read_to_string(&source) else { continue };
        let diff = unified(&old, new, MOST_OF_ONE.min(room));
        room = room.saturating_sub(diff.len());
        compared.diffs.insert(path.clone(), diff);
        if room == 0 {
            return;
        }
    }
}

/// A unified diff of at most `most` bytes, and the number of lines that were cut.
fn unified(old: &str, new: &str, most: usize) -> String {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(old, new);
    let whole = diff.unified_diff().context_radius(CONTEXT).to_string();
    if whole.len() <= most {
        return whole;
    }
    let mut text = String::new();
    let mut lines = whole.split_inclusive('\n');
    for line in lines.by_ref() {
        if text.len() + line.len() > most {
            break;
        }
        text.push_str(line);
    }
    text.push_str(&format!("… {} more lines\n", lines.count() + 1));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changed_and_what_is_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        let diff = "@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9\n\\ No newline at end of file\n";
        assert_eq!(unified(old, new, 1000), diff);
        assert_eq!(unified(old, new, 25), "@@ -2,8 +2,8 @@\n 2\n 3\n 4\n… 8 more lines\n");
        assert_eq!(unified("a\n", "a\r\n", 1000), "@@ -1 +1 @@\n-a\n+a\r\n");
        assert_eq!(unified("a\n", "a\n", 1000), "", "only its rights changed");
    }
}
