//! What a run file has of each row beside its id: a digest of what it asks, and its texts at the paths that group cases.

use jurat_format::value::{FieldPath, Val};
use jurat_store::run::digest;

/// The digest of what a row asks. A path without a value counts as none, which null is not.
pub(crate) fn question_digest(paths: &[FieldPath], base: &Val<'_>) -> u128 {
    let mut text = String::new();
    for path in paths {
        text.push_str(&path.find(base).map_or_else(|_| String::new(), |it| it.to_json()));
        text.push('\n');
    }
    digest(text.as_bytes())
}

/// What a case has at a path of `group_by`, in words.
pub(crate) fn group(path: &FieldPath, base: &Val<'_>) -> Option<String> {
    path.find(base).ok().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
}
