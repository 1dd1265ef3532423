//! `transform`: code that changes an answer before it is judged, as far as it is a path into JSON.

use jurat_format::value::FieldPath;

use crate::document::beginning;

/// The path of what the code returns, given the path of what it gets. Only `JSON.parse(output)`, `output.a[0]` and both together are paths.
pub(super) fn transformed(output: &str, code: &str) -> Result<String, String> {
    let refused = || format!("`transform` is code: `{}`", beginning(code));
    let code = code.trim().trim_end_matches(';');
    let (parses, rest) = match code.strip_prefix("JSON.parse(output)") {
        Some(rest) => (true, rest),
        None => (false, code.strip_prefix("output").ok_or_else(refused)?),
    };
    let is_whole = rest.is_empty();
    if is_whole && !parses {
        return Ok(output.to_owned());
    }
    // An answer with members was read as JSON before, by the provider or by another transform.
    let base = if output.contains("@json") { output.to_owned() } else { format!("{output}.@json") };
    let path = format!("{base}{}", rest.replace("?.", "."));
    let is_path = is_whole || rest.starts_with(['.', '[', '?']);
    match is_path && FieldPath::parse(&path).is_ok() && !rest.contains("length") {
        true => Ok(path),
        false => Err(refused()),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn paths_are_taken_and_code_is_not() {
        let from = |code| transformed("output", code);
        assert_eq!(from("output").as_deref(), Ok("output"));
        assert_eq!(from("JSON.parse(output)").as_deref(), Ok("output.@json"));
        assert_eq!(from("JSON.parse(output).a.b[0]").as_deref(), Ok("output.@json.a.b[0]"));
        assert_eq!(from("output.countries").as_deref(), Ok("output.@json.countries"));
        assert_eq!(transformed("output.@json", "output.countries").as_deref(), Ok("output.@json.countries"));
        assert_eq!(from("output.toUpperCase()").unwrap_err(), "`transform` is code: `output.toUpperCase()`");
        assert_eq!(from("file://x.js").unwrap_err(), "`transform` is code: `file://x.js`");
    }
}
