//! The templates of promptfoo (Nunjucks), as far as they only put variables into text.
//!
//! Loops, conditions, expressions and filters other than `safe` are refused with their text: what they print is decided while running.

use jurat_format::value::{FieldPath, Val, Value};

use crate::document::beginning;

/// A text with variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A variable and the path inside it, as jurat writes it: `order.items[0]`.
    Variable(String),
}

impl Template {
    /// Reads a text, or says what in it is more than a variable.
    pub(super) fn parse(text: &str) -> Result<Template, String> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(at) = rest.find('{') {
            let (before, tag) = rest.split_at(at);
            match tag.as_bytes().get(1) {
                Some(b'{') => {
                    let (inner, after) = until(tag, "}}")?;
                    push(&mut parts, before);
                    parts.push(Part::Variable(variable(inner)?));
                    rest = after;
                }
                Some(b'%') => {
                    let (inner, _) = until(tag, "%}")?;
                    return Err(format!("template logic `{{% {} %}}`", beginning(inner.trim_matches('-').trim())));
                }
                Some(b'#') => {
                    let (_, after) = until(tag, "#}")?;
                    push(&mut parts, before);
                    rest = after;
                }
                _ => {
                    push(&mut parts, &rest[..=at]);
                    rest = &tag[1..];
                }
            }
        }
        push(&mut parts, rest);
        Ok(Template(parts))
    }

    /// The names of its variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|it| match it {
            Part::Variable(path) => Some(path.split(['.', '[']).next().unwrap_or(path)),
            Part::Text(_) => None,
        })
    }

    pub(super) fn has_variables(&self) -> bool {
        self.variables().next().is_some()
    }

    /// The path of the variable that is all of it.
    pub(super) fn only_variable(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Variable(path)] => Some(path),
            _ => None,
        }
    }

    /// The same with the placeholders of jurat, whose rows have the variables under `vars`.
    pub(super) fn placeholders(&self) -> Result<String, String> {
        self.replaced(|path| format!("${{vars.{path}}}"))
    }

    /// The same with what stands for a variable given by the caller.
    pub(super) fn replaced(&self, mut placeholder: impl FnMut(&str) -> String) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(literal) => text += literal_text(literal)?,
                Part::Variable(path) => text += &placeholder(path),
            }
        }
        Ok(text)
    }

    /// The text with the variables filled in. What is not there is nothing, as Nunjucks has it.
    pub(super) fn rendered(&self, vars: &Value) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(literal) => text += literal,
                Part::Variable(path) => text += &printed(path, vars),
            }
        }
        text
    }
}

fn printed(path: &str, vars: &Value) -> String {
    let found = FieldPath::parse(path).ok().and_then(|it| it.reach(vars).cloned());
    match found {
        None | Some(Val::Null) => String::new(),
        Some(value) => crate::document::plain(&value),
    }
}

/// A text that stays as it is in a prompt of jurat; `${name}` would be a placeholder there.
pub(super) fn literal_text(text: &str) -> Result<&str, String> {
    let is_placeholder = |rest: &str| rest.starts_with(|it: char| it.is_alphabetic() || matches!(it, '_' | '['));
    match text.split("${").skip(1).any(is_placeholder) {
        true => Err("it holds the text `${…}`, which is a placeholder in jurat".to_owned()),
        false => Ok(text),
    }
}

/// A value whose texts have the variables filled in.
pub(super) fn rendered_value(value: &Value, vars: &Value) -> Result<Value, String> {
    Ok(match value {
        Val::Str(text) => Val::from(Template::parse(text)?.rendered(vars)),
        Val::List(items) => items.iter().map(|it| rendered_value(it, vars)).collect::<Result<_, _>>()?,
        Val::Map(map) => {
            let members = map.iter().map(|(key, it)| Ok((key.to_owned(), rendered_value(it, vars)?)));
            Val::Map(members.collect::<Result<Vec<_>, String>>()?.into_iter().collect())
        }
        other => other.clone(),
    })
}

/// Whether a text of the value has a tag of a template in it.
pub(super) fn has_tags(value: &Value) -> bool {
    match value {
        Val::Str(text) => text.contains("{{") || text.contains("{%"),
        Val::List(items) => items.iter().any(has_tags),
        Val::Map(map) => map.iter().any(|(_, it)| has_tags(it)),
        _ => false,
    }
}

fn push(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// What is between the two characters that open a tag and its end, and what follows.
fn until<'t>(tag: &'t str, end: &str) -> Result<(&'t str, &'t str), String> {
    match tag[2..].split_once(end) {
        Some(parts) => Ok(parts),
        None => Err(format!("the tag `{}` is not closed by `{end}`", beginning(tag))),
    }
}

fn variable(inner: &str) -> Result<String, String> {
    let expression = inner.trim_matches('-').trim();
    let path = match expression.split_once('|') {
        None => expression,
        Some((path, "safe")) => path.trim(),
        Some((path, filter)) if filter.trim() == "safe" => path.trim(),
        Some((_, filter)) => return Err(format!("the filter `{}` in `{{{{ {expression} }}}}`", filter.trim())),
    };
    let is_path = !path.is_empty()
        && !path.starts_with(|it: char| it.is_ascii_digit() || it == '[')
        && !path.contains("@json")
        && !path.contains('*')
        && FieldPath::parse(path).is_ok();
    match is_path {
        true if path == "env" || path.starts_with("env.") => {
            Err(format!("`{{{{ {expression} }}}}` reads the environment"))
        }
        true if path.starts_with("_conversation") => Err("`_conversation`, the turns of a conversation".to_owned()),
        true => Ok(path.to_owned()),
        false => Err(format!("the expression `{{{{ {} }}}}`", beginning(expression))),
    }
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    #[track_caller]
    fn placeholders(template: &str, expected: Result<&str, &str>) {
        let found = Template::parse(template).and_then(|it| it.placeholders());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{template}");
    }

    #[test]
    fn variables_become_placeholders() {
        placeholders(
            "Say {{ name }}, {{name|safe}} {{- other.x[0] -}}!",
            Ok("Say ${vars.name}, ${vars.name} ${vars.other.x[0]}!"),
        );
        placeholders("{ a: {b} } {# not said #}", Ok("{ a: {b} } "));
        placeholders("costs $5 ${} ${ x }", Ok("costs $5 ${} ${ x }"));
    }

    #[test]
    fn what_is_more_than_a_variable_is_refused() {
        placeholders("{% for x in y %}", Err("template logic `{% for x in y %}`"));
        placeholders("{{ x | upper }}", Err("the filter `upper` in `{{ x | upper }}`"));
        placeholders("{{ 1 + x }}", Err("the expression `{{ 1 + x }}`"));
        placeholders("{{ x", Err("the tag `{{ x` is not closed by `}}`"));
        placeholders("{{ env.KEY }}", Err("`{{ env.KEY }}` reads the environment"));
        placeholders("${name}", Err("it holds the text `${…}`, which is a placeholder in jurat"));
    }

    #[test]
    fn variables_are_filled_in() {
        let vars = parse_json(r#"{"a": "x", "n": 5, "l": [1, {"b": true}]}"#).expect("JSON").value.into_owned();
        let rendered = |text: &str| Template::parse(text).expect("a template").rendered(&vars);
        assert_eq!(rendered("{{a}}-{{n}}-{{l}}-{{l[1].b}}-{{none}}."), "x-5-[1,{\"b\":true}]-true-.");
    }
}
