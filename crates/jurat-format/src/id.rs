//! Ids: how tasks, roles and dimensions are named.

/// The pattern of an id, for editors.
pub const PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// Whether a text can be an id.
pub fn is_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}

/// Whether two ids name the same thing: case makes no difference, since the systems that suites come from ignore it.
pub fn same_id(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}

/// The nearest text that can be an id, for a remedy.
pub fn repaired(text: &str) -> String {
    let mapped: String =
        text.chars().map(|it| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' }).collect();
    let mapped = mapped.trim_matches('_').to_owned();
    if is_id(&mapped) { mapped } else { format!("_{mapped}") }
}
