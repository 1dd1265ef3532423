//! Prompts of promptfoo as prompts of `ask`.

use jurat_format::value::{Content, Node, Val, Value, parse_json};

use super::places::{Places, ending, is_pattern};
use super::template::Template;
use crate::document::{beginning, text_at};
use crate::report::Report;

/// A prompt that was taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) at: String,
    pub(super) label: Option<String>,
    /// The text, with placeholders of jurat.
    pub(super) text: String,
    pub(super) system: Option<String>,
    /// The variables that it uses.
    pub(super) variables: Vec<String>,
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
            Ok(prompt) if taken.first().is_some_and(|it| it.system != prompt.system) => {
                let why = "`ask.system` is one for all prompts, and this one has another";
                report.dropped(&raw.at, raw.what(), why);
            }
            Ok(prompt) => {
                match around {
                    Some(option) => {
                        let why = format!("`defaultTest.options.{option}` is not in it");
                        report.approximate(&raw.at, raw.what(), "`ask`", why);
                    }
                    None => report.exact(&raw.at, raw.what(), "`ask`"),
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

/// A prompt for `ask`: text, or a chat of one message of the user and perhaps one of the system before it.
fn prompt(raw: &Raw) -> Result<Prompt, String> {
    let chat = chat(raw)?;
    let (system, user) = match chat {
        None => (None, raw.text.trim().to_owned()),
        Some(chat) => system_and_user(&chat)?,
    };
    let user = Template::parse(&user)?;
    let system = system.as_deref().map(Template::parse).transpose()?;
    let mut variables: Vec<String> = Vec::new();
    for variable in user.variables().chain(system.iter().flat_map(Template::variables)) {
        if !variables.iter().any(|it| it == variable) {
            variables.push(variable.to_owned());
        }
    }
    let text = user.placeholders()?;
    let system = system.map(|it| it.placeholders()).transpose()?;
    Ok(Prompt { at: raw.at.clone(), label: raw.label.clone(), text, system, variables })
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

fn system_and_user(chat: &Value) -> Result<(Option<String>, String), String> {
    let mut messages = Vec::new();
    for message in chat.as_list().unwrap_or_default() {
        let role = text_at(message, "role").unwrap_or_default();
        let content = text_at(message, "content").ok_or("it has content in parts (images, files)")?;
        messages.push((role, content.to_owned()));
    }
    match messages.as_slice() {
        [("user", user)] => Ok((None, user.clone())),
        [("system" | "developer", system), ("user", user)] => Ok((Some(system.clone()), user.clone())),
        _ => {
            let roles: Vec<&str> = messages.iter().map(|(role, _)| *role).collect();
            Err(format!("a chat of {}; `ask` takes one message of the user, and one of the system", roles.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn taken(text: &str, expected: Result<(Option<&str>, &str), &str>) {
        let raw = Raw { at: String::new(), label: None, text: text.to_owned(), is_yaml: text.starts_with("- ") };
        let found = prompt(&raw);
        let found = found.as_ref().map(|it| (it.system.as_deref(), it.text.as_str())).map_err(String::as_str);
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
    fn other_chats_are_refused() {
        taken(
            r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]"#,
            Err("a chat of user, assistant; `ask` takes one message of the user, and one of the system"),
        );
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
