//! Ids: how tasks, roles and dimensions are named.

/// The pattern of an id, for editors.
pub(crate) const PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// Whether a text can be an id.
pub(crate) fn is_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}

/// The nearest text that can be an id, for a remedy.
pub(crate) fn repaired(text: &str) -> String {
    let mapped: String =
        text.chars().map(|it| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' }).collect();
    let mapped = mapped.trim_matches('_').to_owned();
    if is_id(&mapped) { mapped } else { format!("_{mapped}") }
}
