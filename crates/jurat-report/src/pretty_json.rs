//! A value as indented JSON, its members in the order they have.

use std::fmt::{self, Write as _};

use jurat_format::value::Val;

/// The value as indented JSON; what is short stands on one line.
pub fn pretty_json(value: &Val<'_>) -> String {
    pretty_json_until(value, usize::MAX)
}

/// The same, but not much more of it than this number of bytes: of a large value a page shows the beginning.
pub fn pretty_json_until(value: &Val<'_>, most: usize) -> String {
    let mut out = String::new();
    write(&mut out, value, 0, most);
    out
}

/// A list or object that fits on a line of this many characters is not broken up.
const SHORT: usize = 120;

fn write(out: &mut String, value: &Val<'_>, depth: usize, most: usize) {
    let indent = "  ".repeat(depth + 1);
    if let Some(line) = line_within(value, SHORT.saturating_sub(indent.len())) {
        out.push_str(&line);
        return;
    }
    let members: Vec<(Option<&str>, &Val<'_>)> = match value {
        Val::List(items) => items.iter().map(|it| (None, it)).collect(),
        Val::Map(map) => map.iter().map(|(key, it)| (Some(key), it)).collect(),
        _ => Vec::new(),
    };
    let Some(last) = members.len().checked_sub(1) else {
        out.push_str(&value.to_string());
        return;
    };
    let (open, close) = if matches!(value, Val::List(_)) { ("[", "]") } else { ("{", "}") };
    out.push_str(open);
    for (ix, (key, it)) in members.into_iter().enumerate() {
        if out.len() > most {
            return;
        }
        out.push('\n');
        out.push_str(&indent);
        if let Some(key) = key {
            out.push_str(&Val::from(key).to_string());
            out.push_str(": ");
        }
        write(out, it, depth + 1, most);
        out.push_str(if ix == last { "" } else { "," });
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push_str(close);
}

/// The value on one line, if that has room. A large value is not written to its end to find out: that would cost its size once for every level above it.
fn line_within(value: &Val<'_>, room: usize) -> Option<String> {
    let mut line = Line { text: String::new(), room };
    write!(line, "{value}").is_ok().then_some(line.text)
}

struct Line {
    text: String,
    room: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.text.len() + part.len() > self.room {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    #[test]
    fn long_values_are_broken_up_and_read_back_the_same() {
        let text = format!("{{\"b\": [1, 2], \"a\": [\"{}\", {{}}, []]}}", "x".repeat(120));
        let value = parse_json(&text).unwrap().value;
        let pretty = pretty_json(&value);
        assert!(pretty.starts_with("{\n  \"b\": [1, 2],\n  \"a\": [\n    \"xxx"), "{pretty}");
        assert_eq!(parse_json(&pretty).unwrap().value, value);
    }

    #[test]
    fn the_beginning_of_a_large_value_is_that_of_the_whole() {
        let item = format!("[\"{}\"], ", "x".repeat(90));
        let text = format!("[{}[]]", item.repeat(1_000));
        let value = parse_json(&text).unwrap().value;
        let (whole, start) = (pretty_json(&value), pretty_json_until(&value, 5_000));
        assert!(whole.len() > 90_000 && whole.starts_with(&start), "{start}");
        assert!((5_000..5_300).contains(&start.len()), "{}", start.len());
    }
}
