//! Where a `file:` URI leads.

/// The path that a `file:` URI names, decoded; `None` for everything else. Whose machine it is, queries and fragments are passed over.
///
/// ```
/// use jurat_core::check::uri_path;
///
/// assert_eq!(uri_path("file:///runs/r%C3%A9sum%C3%A9.md").as_deref(), Some("/runs/résumé.md"));
/// assert_eq!(uri_path("FILE://host/a.md?x#y").as_deref(), Some("/a.md"));
/// assert_eq!(uri_path("https://host/a.md"), None);
/// assert_eq!(uri_path("/a.md"), None);
/// ```
pub fn uri_path(uri: &str) -> Option<String> {
    written_path(uri).map(decoded)
}

/// The path as it stands in the URI: what programs that do not decode took for the name of the file.
pub(super) fn written_path(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    Some(match rest.strip_prefix("//") {
        Some(with_host) => &with_host[with_host.find('/').unwrap_or(with_host.len())..],
        None => rest,
    })
}

/// Text with `%41` as `A`. What is no escape, or would not be UTF-8, stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let byte = escape.and_then(|it| std::str::from_utf8(it).ok()).and_then(|it| {
            // `from_str_radix` would take a sign.
            it.bytes().all(|it| it.is_ascii_hexdigit()).then(|| u8::from_str_radix(it, 16).ok()).flatten()
        });
        match byte {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn leads(uri: &str, path: Option<&str>) {
        assert_eq!(uri_path(uri).as_deref(), path, "{uri}");
    }

    #[test]
    fn uris_lead_to_paths() {
        leads("file:///a/b.md", Some("/a/b.md"));
        leads("file:/a/b.md", Some("/a/b.md"));
        leads("file:a/b.md", Some("a/b.md"));
        leads("file://localhost", Some(""));
        leads("file:///a%20b%2", Some("/a b%2"));
        leads("file:///a%+1", Some("/a%+1"));
        leads("file:///a%ff", Some("/a%ff"));
        leads("file:///a%23b", Some("/a#b"));
        leads("fil:///a", None);
        leads("C:/a", None);
        leads("", None);
    }
}
