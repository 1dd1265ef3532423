//! Prompts of promptfoo as prompts of `ask`.

use jurat_format::value::{Content, Node, Val, Value, parse_json};

use super::jinja::{Jinja, Presence};
use super::places::{Places, ending, is_pattern};
use super::template::Template;
use crate::document::{Object, beginning, members, text, text_at};
use crate::report::Report;

/// A prompt that was taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) at: String,
    pub(super) label: Option<String>,
    /// Who says what, in order.
    pub(super) messages: Vec<(String, Said)>,
}

/// What is said: a text with placeholders of jurat and the variables that it uses, or a Jinja template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Text(String, Vec<String>),
    Jinja(Jinja),
}

impl Said {
    fn parse(text: &str) -> Result<Said, String> {
        let plain = Template::parse(text).and_then(|it| {
            let variables = it.variables().map(str::to_owned).collect();
            Ok(Said::Text(it.placeholders()?, variables))
        });
        // Why it is no text with variables says more than why it is no template that jurat has.
        plain.or_else(|why| Jinja::parse(text).map(Said::Jinja).map_err(|_| why))
    }

    /// As `ask` takes it.
    fn value(&self, presence: &dyn Fn(&str) -> Presence) -> Value {
        match self {
            Said::Text(it, _) => text(it),
            Said::Jinja(it) => Object::new().with("jinja", text(it.template(presence))).into(),
        }
    }
}

impl Prompt {
    /// The one message of a user, and that of the system before it.
    pub(super) fn system_and_user(&self) -> Option<(Option<&Said>, &Said)> {
        let roles: Vec<&str> = self.messages.iter().map(|(role, _)| role.as_str()).collect();
        match roles.as_slice() {
            ["user"] => Some((None, &self.messages[0].1)),
            ["system", "user"] => Some((Some(&self.messages[0].1), &self.messages[1].1)),
            _ => None,
        }
    }

    pub(super) fn has_jinja(&self) -> bool {
        self.messages.iter().any(|(_, it)| matches!(it, Said::Jinja(_)))
    }

    /// The variables that every row must have. A template that says what happens without one has none of them.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().flat_map(|(_, it)| match it {
            Said::Text(_, variables) => variables.iter().map(String::as_str).collect::<Vec<_>>(),
            Said::Jinja(it) if it.handles_missing() => Vec::new(),
            Said::Jinja(it) => it.names().iter().map(String::as_str).collect(),
        })
    }
}

/// The prompts as members of `ask`: one, or several by their names.
pub(super) fn ask(prompts: &[Prompt], presence: &dyn Fn(&str) -> Presence) -> Object {
    let mut ask = Object::new();
    let systems: Vec<Option<Option<&Said>>> = prompts.iter().map(|it| Some(it.system_and_user()?.0)).collect();
    // What all of them have in common stands once; where one differs, each has its own messages.
    let common = systems.first().copied().flatten().filter(|first| systems.iter().all(|it| *it == Some(*first)));
    ask.put_some("system", common.flatten().map(|it| it.value(presence)));
    let value = |prompt: &Prompt| match prompt.system_and_user() {
        Some((system, user)) if system.is_none() || common.is_some() => user.value(presence),
        _ => {
            let message = |(role, said): &(String, Said)| {
                Value::from(Object::new().with("role", text(role)).with("content", said.value(presence)))
            };
            let messages: Value = prompt.messages.iter().map(message).collect();
            Object::new().with("messages", messages).into()
        }
    };
    match prompts {
        [one] => match value(one) {
            Val::Map(map) if map.get("messages").is_some() => {
                ask.put_some("messages", map.get("messages").cloned());
            }
            value => ask.put("prompt", value),
        },
        several => {
            let (mut names, mut named) = (crate::identifier::Names::default(), Object::new());
            for (ix, prompt) in several.iter().enumerate() {
                let wanted = prompt.label.clone().unwrap_or_else(|| format!("prompt_{}", ix + 1));
                // A prompt is an object with one of these keys.
                let is_key = ["file", "jinja", "messages"].contains(&wanted.as_str());
                let wanted = if is_key { format!("prompt_{wanted}") } else { wanted };
                named.put(&names.unique(&wanted), value(prompt));
            }
            ask.put("prompts", named);
        }
    }
    ask
}

/// A prompt as it is written.
struct Raw {
    at: String,
    label: Option<String>,
    /// The text of a template, or a chat in JSON or YAML.
    text: String,
    is_yaml: bool,
}

impl Raw {
    fn what(&self) -> String {
        match &self.label {
            Some(label) => format!("prompt `{}`", beginning(label)),
            None => format!("prompt `{}`", beginning(&self.text)),
        }
    }
}

/// The prompts of a configuration. Those that jurat cannot send are noted; so is the option of all tests that puts text around them.
pub(super) fn prompts(
    places: &mut Places<'_>,
    node: Option<&Node<'_>>,
    name: &str,
    around: Option<&str>,
    report: &mut Report,
) -> Vec<Prompt> {
    let Some(node) = node else {
        let raw = Raw { at: format!("{name}:1"), label: None, text: "{{prompt}}".to_owned(), is_yaml: false };
        return vec![prompt(&raw).expect("a variable is a prompt")];
    };
    let mut raws = Vec::new();
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    for item in items {
        let at = places.at(item.span);
        match raw(places, item, &at) {
            Ok(found) => raws.extend(found),
            Err((what, why)) => report.dropped(&at, what, why),
        }
    }
    let mut taken: Vec<Prompt> = Vec::new();
    for raw in &raws {
        match prompt(raw) {
            Ok(prompt) => {
                let around = around.map(|it| format!("`defaultTest.options.{it}` is not in it"));
                let jinja = prompt
                    .has_jinja()
                    .then(|| "it is a Jinja template here, which may print a value otherwise than Nunjucks".to_owned());
                let differences: Vec<String> = around.into_iter().chain(jinja).collect();
                match differences.is_empty() {
                    true => report.exact(&raw.at, raw.what(), "`ask`"),
                    false => report.approximate(&raw.at, raw.what(), "`ask`", differences.join("; ")),
                }
                taken.push(prompt);
            }
            Err(why) => report.dropped(&raw.at, raw.what(), why),
        }
    }
    taken
}

type Refused = (String, String);

fn raw(places: &Places<'_>, node: &Node<'_>, at: &str) -> Result<Vec<Raw>, Refused> {
    if let Some(text) = node.as_str() {
        return of_text(places, text, None, at);
    }
    let value = node.to_val().into_owned();
    let label = text_at(&value, "label").or_else(|| text_at(&value, "display")).map(str::to_owned);
    let what = || format!("prompt `{}`", beginning(label.as_deref().unwrap_or("without a label")));
    if let Some(key) = ["function", "config"].into_iter().find(|it| value.get(it).is_some()) {
        return Err((what(), format!("`{key}` of a prompt is not known to jurat")));
    }
    match text_at(&value, "raw").or_else(|| text_at(&value, "id")).or_else(|| text_at(&value, "prompt")) {
        Some(text) => of_text(places, text, label.as_deref(), at),
        None if matches!(node.content, Content::List(_)) => {
            Ok(vec![Raw { at: at.to_owned(), label, text: value.to_json(), is_yaml: false }])
        }
        None => Err((what(), "it has neither `raw` nor `id`".to_owned())),
    }
}

/// Prefixes of prompts that are stored elsewhere.
const HUBS: [&str; 6] = ["langfuse://", "portkey://", "helicone://", "http://", "https://", "exec:"];

fn of_text(places: &Places<'_>, text: &str, label: Option<&str>, at: &str) -> Result<Vec<Raw>, Refused> {
    let what = format!("prompt `{}`", beginning(label.unwrap_or(text)));
    if let Some(hub) = HUBS.iter().find(|it| text.starts_with(*it)) {
        return Err((what, format!("`{hub}`: nothing is fetched or run while importing")));
    }
    let label = label.map(str::to_owned);
    if !is_file(text) {
        return Ok(vec![Raw { at: at.to_owned(), label, text: text.to_owned(), is_yaml: false }]);
    }
    let files = match is_pattern(text) {
        true => places.matching(text).map_err(|why| (what.clone(), why))?,
        false => vec![text.to_owned()],
    };
    let mut found = Vec::new();
    for file in files {
        found.extend(of_file(places, &file, label.clone()).map_err(|why| (what.clone(), why))?);
    }
    Ok(found)
}

/// Whether a prompt is the name of a file: written as one, or as its only word.
fn is_file(text: &str) -> bool {
    const ENDINGS: [&str; 12] = ["txt", "md", "json", "jsonl", "yaml", "yml", "csv", "js", "ts", "py", "mjs", "j2"];
    text.starts_with("file://")
        || (!text.contains(char::is_whitespace) && !text.contains("{{") && ENDINGS.contains(&ending(text).as_str()))
}

fn of_file(places: &Places<'_>, file: &str, label: Option<String>) -> Result<Vec<Raw>, String> {
    let path = file.split("file://").last().unwrap_or(file);
    // `prompt.py:function` names a function of a file.
    let path = match path.rsplit_once(':') {
        Some((path, _)) if matches!(ending(path).as_str(), "py" | "js" | "ts" | "mjs" | "cjs") => path,
        _ => path,
    };
    let ending = ending(path);
    if matches!(ending.as_str(), "js" | "cjs" | "mjs" | "ts" | "py" | "sh" | "exe") {
        return Err("it is code, which is not run while importing".to_owned());
    }
    if matches!(ending.as_str(), "csv" | "jsonl") {
        return Err(format!("prompts in `.{ending}` files are not read"));
    }
    let (path, text) = places.text(path)?;
    let parts: Vec<(usize, String)> = match ending.as_str() {
        "txt" => split(&text),
        _ => vec![(1, text)],
    };
    let is_yaml = matches!(ending.as_str(), "yaml" | "yml");
    let raw = |(line, text): (usize, String)| Raw { at: format!("{path}:{line}"), label: label.clone(), text, is_yaml };
    Ok(parts.into_iter().map(raw).collect())
}

/// The prompts of a text file, with the line of each; lines of three hyphens stand between them.
fn split(text: &str) -> Vec<(usize, String)> {
    let (mut parts, mut first, mut lines) = (Vec::new(), 1, Vec::new());
    for (ix, line) in text.lines().chain(["---"]).enumerate() {
        if line.trim() == "---" {
            let part = lines.join("\n").trim().to_owned();
            if !part.is_empty() {
                parts.push((first, part));
            }
            (first, lines) = (ix + 2, Vec::new());
        } else {
            lines.push(line);
        }
    }
    parts
}

/// A prompt for `ask`: text, or a chat.
fn prompt(raw: &Raw) -> Result<Prompt, String> {
    let messages = match chat(raw)? {
        None => vec![("user".to_owned(), Said::parse(raw.text.trim())?)],
        Some(chat) => messages(&chat)?,
    };
    Ok(Prompt { at: raw.at.clone(), label: raw.label.clone(), messages })
}

/// The messages, when the prompt is a chat.
fn chat(raw: &Raw) -> Result<Option<Value>, String> {
    let text = raw.text.trim();
    let value = if raw.is_yaml {
        let mut problems = Vec::new();
        let source = jurat_format::source::Sources::default().add("prompt", text);
        jurat_format::yaml::read_tree(text, source, false, &mut problems).map(|it| it.into_val().into_owned())
    } else if text.starts_with('[') || text.starts_with('{') && !text.starts_with("{{") && !text.starts_with("{%") {
        parse_json(text).ok().map(|it| it.value.into_owned())
    } else {
        None
    };
    let is_chat = |it: &Value| {
        it.as_list().is_some_and(|items| !items.is_empty() && items.iter().all(|it| text_at(it, "role").is_some()))
    };
    match value {
        Some(value) if is_chat(&value) => Ok(Some(value)),
        Some(Val::Map(map)) if map.get("messages").is_some() || map.get("contents").is_some() => {
            Err("it is a whole request in JSON".to_owned())
        }
        None if text.starts_with('[') && text.contains("\"role\"") => {
            Err(Template::parse(text).err().unwrap_or_else(|| "it is a chat that is no JSON".to_owned()))
        }
        _ => Ok(None),
    }
}

/// The messages of a chat.
fn messages(chat: &Value) -> Result<Vec<(String, Said)>, String> {
    let mut messages = Vec::new();
    for message in chat.as_list().unwrap_or_default() {
        let role = match text_at(message, "role").unwrap_or_default() {
            "developer" => "system",
            role @ ("system" | "user" | "assistant") => role,
            other => return Err(format!("a chat with a message of the role `{}`", beginning(other))),
        };
        if let Some((key, _)) = members(message).find(|(key, _)| !matches!(*key, "role" | "content" | "name")) {
            return Err(format!("a chat with `{}` of a message", beginning(key)));
        }
        let content = text_at(message, "content").ok_or("it has content in parts (images, files)")?;
        messages.push((role.to_owned(), Said::parse(content)?));
    }
    match messages.last() {
        Some((role, _)) if role == "user" => Ok(messages),
        _ => {
            let roles: Vec<&str> = messages.iter().map(|(role, _)| role.as_str()).collect();
            Err(format!("a chat of {}, which does not end with the user", roles.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::plain;

    #[track_caller]
    fn taken(text: &str, expected: Result<(Option<&str>, &str), &str>) {
        let raw = Raw { at: String::new(), label: None, text: text.to_owned(), is_yaml: text.starts_with("- ") };
        let found = prompt(&raw).map(|it| ask(&[it], &|_| Presence::Everywhere));
        let found = found.map(|it| {
            let own = |key: &str| it.get(key).map(plain);
            (own("system"), own("prompt").or_else(|| own("messages")).unwrap_or_default())
        });
        let found = found.as_ref().map(|(system, said)| (system.as_deref(), said.as_str())).map_err(String::as_str);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn texts_and_short_chats_are_taken() {
        taken("Say {{x}}", Ok((None, "Say ${vars.x}")));
        taken(r#"[{"role": "user", "content": "Hi {{x}}"}]"#, Ok((None, "Hi ${vars.x}")));
        taken(
            "- role: system\n  content: Be brief.\n- role: user\n  content: \"{{q}}\"\n",
            Ok((Some("Be brief."), "${vars.q}")),
        );
        taken("{\"not\": \"a chat\"}", Ok((None, "{\"not\": \"a chat\"}")));
    }

    #[test]
    fn chats_of_several_turns_are_messages() {
        taken(
            r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "{{x}}"}]"#,
            Ok((
                None,
                r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"${vars.x}"}]"#,
            )),
        );
    }

    #[test]
    fn template_logic_is_jinja() {
        taken("{% if x %}Yes{% endif %}", Ok((None, r#"{"jinja":"{% set x = vars.x %}{% if x %}Yes{% endif %}"}"#)));
        taken("Say ${name} {{x}}", Ok((None, r#"{"jinja":"{% set x = vars.x %}Say ${name} {{x}}"}"#)));
        taken("{% include \"x\" %}", Err("template logic `{% include \"x\" %}`"));
    }

    /// A system message that only some prompts have is a part of those.
    #[test]
    fn prompts_with_other_system_messages_are_messages() {
        let raw = |text: &str| Raw { at: String::new(), label: None, text: text.to_owned(), is_yaml: false };
        let prompts: Vec<Prompt> =
            ["Q {{x}}", r#"[{"role": "system", "content": "Brief."}, {"role": "user", "content": "Q"}]"#]
                .iter()
                .map(|it| prompt(&raw(it)).expect("a prompt"))
                .collect();
        let found = Value::from(ask(&prompts, &|_| Presence::Everywhere)).to_json();
        let expected = r#"{"prompts":{"prompt_1":"Q ${vars.x}","prompt_2":{"messages":[{"role":"system","content":"Brief."},{"role":"user","content":"Q"}]}}}"#;
        assert_eq!(found, expected);
    }

    #[test]
    fn other_chats_are_refused() {
        taken(
            r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]"#,
            Err("a chat of user, assistant, which does not end with the user"),
        );
        taken(r#"[{"role": "tool", "content": "a"}]"#, Err("a chat with a message of the role `tool`"));
        taken(
            r#"[{"role": "user", "content": [{"type": "image_url"}]}]"#,
            Err("it has content in parts (images, files)"),
        );
        taken(r#"[{% for x in y %}{"role": "user"}]"#, Err("template logic `{% for x in y %}`"));
    }

    #[test]
    fn a_text_file_holds_prompts_between_lines_of_hyphens() {
        let parts = split("one\n---\ntwo\nlines\n---\n\n---\nthree");
        assert_eq!(parts, [(1, "one".to_owned()), (3, "two\nlines".to_owned()), (8, "three".to_owned())]);
    }
}
