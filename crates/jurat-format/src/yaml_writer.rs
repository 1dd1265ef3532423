//! Values as YAML that reads back the same.

use std::fmt::Write;

use crate::id;
use crate::value::Val;

/// A value as YAML, for programs that make definitions without a file.
///
/// ```
/// use jurat_format::yaml_writer::yaml_text;
/// use jurat_format::value::parse_json;
///
/// let value = parse_json(r#"{"suite": "support", "tasks": [{"id": "polite", "operator": "is_not_empty"}]}"#)?;
/// assert_eq!(yaml_text(&value.value), "\
/// suite: support
/// tasks:
///   - id: polite
///     operator: is_not_empty
/// ");
/// # Ok::<(), jurat_format::value::JsonError>(())
/// ```
pub fn yaml_text(value: &Val<'_>) -> String {
    let mut out = String::new();
    write_block(&mut out, value, 0);
    out
}

/// Objects and lists of them as blocks, everything else as JSON, which YAML reads.
fn write_block(out: &mut String, value: &Val<'_>, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Val::Map(map) if !map.is_empty() => {
            for (key, value) in map.iter() {
                let key = scalar(&Val::from(key));
                let _ = if is_long(&key) {
                    write!(out, "{indent}? {key}\n{indent}:")
                } else {
                    write!(out, "{indent}{key}:")
                };
                write_after(out, value, depth);
            }
        }
        Val::List(items) if items.iter().any(|it| matches!(it, Val::Map(map) if !map.is_empty())) => {
            for item in items {
                let _ = write!(out, "{indent}-");
                match item {
                    Val::Map(map) if !map.is_empty() => {
                        let mut inner = String::new();
                        write_block(&mut inner, item, depth + 1);
                        out.push(' ');
                        out.push_str(inner.trim_start());
                    }
                    other => {
                        let _ = writeln!(out, " {}", scalar(other));
                    }
                }
            }
        }
        other => {
            let _ = writeln!(out, "{indent}{}", scalar(other));
        }
    }
}

fn write_after(out: &mut String, value: &Val<'_>, depth: usize) {
    let is_block = match value {
        Val::Map(map) => !map.is_empty(),
        Val::List(items) => items.iter().any(|it| matches!(it, Val::Map(map) if !map.is_empty())),
        _ => false,
    };
    if is_block {
        out.push('\n');
        write_block(out, value, depth + 1);
    } else {
        let _ = writeln!(out, " {}", scalar(value));
    }
}

/// One line of YAML. A word that could only be text stands as it is; all other text is quoted.
fn scalar(value: &Val<'_>) -> String {
    match value {
        Val::Str(text) if is_plain(text) => text.clone().into_owned(),
        Val::Str(text) => quoted(text),
        Val::List(items) => format!("[{}]", items.iter().map(scalar).collect::<Vec<_>>().join(", ")),
        Val::Map(map) => {
            let member = |(key, value): (&str, &Val<'_>)| {
                let key = scalar(&Val::from(key));
                format!("{}{key}: {}", if is_long(&key) { "? " } else { "" }, scalar(value))
            };
            format!("{{{}}}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// YAML looks for the `:` after a key in the next 1024 characters only, unless `?` announces the key.
fn is_long(key: &str) -> bool {
    key.len() > 1000
}

fn is_plain(text: &str) -> bool {
    let is_word = id::is_id(text);
    is_word
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}

/// Double quotes with escapes that YAML and JSON share; what YAML does not print is escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        let _ = match it {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            '\r' => write!(out, "\\r"),
            _ if it.is_control()
                || matches!(it, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{85}') =>
            {
                write!(out, "\\u{:04x}", u32::from(it))
            }
            _ => write!(out, "{it}"),
        };
    }
    out.push('"');
    out
}
