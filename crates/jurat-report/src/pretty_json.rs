//! A value as indented JSON, its members in the order they have.

use jurat_format::value::Val;

/// The value as indented JSON; what is short stands on one line.
pub fn pretty_json(value: &Val<'_>) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out
}

/// A list or object that fits on a line of this many characters is not broken up.
const SHORT: usize = 120;

fn write(out: &mut String, value: &Val<'_>, depth: usize) {
    let line = value.to_string();
    let indent = "  ".repeat(depth + 1);
    let members: Vec<(Option<&str>, &Val<'_>)> = match value {
        _ if line.len() + indent.len() <= SHORT => Vec::new(),
        Val::List(items) => items.iter().map(|it| (None, it)).collect(),
        Val::Map(map) => map.iter().map(|(key, it)| (Some(key), it)).collect(),
        _ => Vec::new(),
    };
    let Some(last) = members.len().checked_sub(1) else {
        out.push_str(&line);
        return;
    };
    let (open, close) = if matches!(value, Val::List(_)) { ("[", "]") } else { ("{", "}") };
    out.push_str(open);
    for (ix, (key, it)) in members.into_iter().enumerate() {
        out.push('\n');
        out.push_str(&indent);
        if let Some(key) = key {
            out.push_str(&Val::from(key).to_string());
            out.push_str(": ");
        }
        write(out, it, depth + 1);
        out.push_str(if ix == last { "" } else { "," });
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push_str(close);
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
}
