//! Providers of promptfoo that are applications of the author, asked over HTTP: what they are sent is a template there and here.

use jurat_format::value::{FieldPath, Val, Value};

use super::providers::{OF_CONNECTION, Provider, Taken, is_of_connection};
use super::template::{Template, has_tags};
use crate::document::{Object, beginning, maybe_json, members, text};
use crate::secret::is_secret;

const DIFFERENCE: &str = "`${prompt}` is the last message of the user; a prompt that is a chat is JSON in promptfoo, and a text that is JSON is sent there as what it says";

/// Members that decide what is sent, and that jurat has nothing for.
const NEEDED: [&str; 5] = ["request", "signatureAuth", "auth", "tls", "multipart"];

/// Whether a provider is an application.
pub(super) fn is_application(id: &str) -> bool {
    matches!(id, "http" | "https") || id.starts_with("http://") || id.starts_with("https://")
}

/// The application as a model; the reason when its request or its reply cannot be written.
pub(super) fn application(provider: &Provider) -> Result<Taken, String> {
    let config = &provider.config;
    if let Some(key) = NEEDED.into_iter().find(|it| config.get(it).is_some()) {
        return Err(format!(
            "its `{key}` is not taken over; `http/NAME` is an application, with its request and reply"
        ));
    }
    let own_id = (provider.id.contains("://")).then_some(provider.id.as_str());
    let url = config.get("url").and_then(Val::as_str).or(own_id).ok_or("it has no `url`")?;
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let name = format!("http/{}", name_of(provider, address));
    let mut model = Object::new().with("model", text(&name));
    model.put("base_url", text(from_environment(address).ok_or("its `url` is a template")?));
    let mut dropped = Vec::new();
    let headers = headers(config.get("headers"), &mut dropped);
    if !headers.is_empty() {
        model.put("headers", headers);
    }
    model.put("request", request(config, query)?);
    if let Some(path) = answer(config)? {
        model.put("response", Object::new().with("text", text(path)));
    }
    const READ: [&str; 8] =
        ["url", "method", "headers", "body", "queryParams", "transformResponse", "responseParser", "stateful"];
    let others = config.members().filter(|(key, _)| !READ.contains(key));
    dropped.extend(others.map(|(key, _)| (key.to_owned(), "not known to the importer".to_owned())));
    Ok(Taken { model: model.into(), name, output: None, difference: Some(DIFFERENCE.to_owned()), dropped })
}

/// What reports call it: its label, or the host.
fn name_of(provider: &Provider, address: &str) -> String {
    let host = address.split("://").nth(1).unwrap_or(address).split(['/', ':']).next().unwrap_or_default();
    let name = jurat_format::id::repaired(provider.label.as_deref().unwrap_or(host));
    if name.is_empty() { "application".to_owned() } else { name }
}

/// A text in which only variables of the environment are filled in.
fn from_environment(written: &str) -> Option<String> {
    let mut parts = written.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (variable, rest) = part.split_once("}}")?;
        let name = variable.trim().strip_prefix("env.")?;
        if name.is_empty() || name.contains(|it: char| !(it.is_ascii_alphanumeric() || it == '_')) {
            return None;
        }
        filled += &format!("${{{name}}}{rest}");
    }
    Some(filled)
}

fn headers(written: Option<&Value>, dropped: &mut Vec<(String, String)>) -> Object {
    let mut headers = Object::new();
    for (key, value) in written.map(|it| members(it).collect::<Vec<_>>()).unwrap_or_default() {
        let filled = value.as_str().and_then(from_environment);
        let is_usual = value.as_str().is_some_and(|it| it.starts_with("application/json"));
        match filled {
            _ if is_of_connection(key) && is_usual => {}
            _ if is_of_connection(key) => dropped.push((key.to_owned(), OF_CONNECTION.to_owned())),
            Some(it) if !is_secret(key) || has_tags(value) => headers.put(key, text(it)),
            Some(_) => {
                dropped.push((key.to_owned(), "a secret; write `${NAME}` of the environment in the suite".to_owned()));
            }
            None => dropped.push((key.to_owned(), "it is a template or not text".to_owned())),
        }
    }
    headers
}

fn request(config: &Object, query: &str) -> Result<Object, String> {
    let body = config.get("body").map(body).transpose()?;
    let usual = if body.is_some() { "POST" } else { "GET" };
    let method = config.get("method").and_then(Val::as_str).unwrap_or(usual).to_uppercase();
    if !matches!(method.as_str(), "POST" | "GET" | "PUT" | "PATCH") {
        return Err(format!("its method is `{}`", beginning(&method)));
    }
    let mut request = Object::new();
    if method != "POST" {
        request.put("method", text(method));
    }
    let mut parameters = Object::new();
    for (key, value) in query.split('&').filter_map(|it| it.split_once('=')) {
        parameters.put(key, filled(&text(value))?);
    }
    for (key, value) in config.get("queryParams").map(|it| members(it).collect::<Vec<_>>()).unwrap_or_default() {
        parameters.put(key, filled(value)?);
    }
    if !parameters.is_empty() {
        request.put("query", parameters);
    }
    request.put_some("body", body);
    Ok(request)
}

/// A body that is written as JSON in a text is JSON.
fn body(written: &Value) -> Result<Value, String> {
    match written {
        Val::Str(it) if it.starts_with("file://") => Err("its `body` is in a file of its own".to_owned()),
        Val::Str(it) => filled(&maybe_json(it)),
        other => filled(other),
    }
}

/// A value whose texts have the placeholders of applications.
fn filled(value: &Value) -> Result<Value, String> {
    match value {
        Val::Str(it) => placeholders(it).map(text),
        Val::List(items) => items.iter().map(filled).collect(),
        Val::Map(map) => {
            map.iter().map(|(key, it)| Ok((key.to_owned(), filled(it)?))).collect::<Result<_, String>>().map(Val::Map)
        }
        other => Ok(other.clone()),
    }
}

fn placeholders(written: &str) -> Result<String, String> {
    let template = Template::parse(written).map_err(|why| format!("its request has {why}"))?;
    template.replaced(|path| match path {
        "prompt" => "${prompt}".to_owned(),
        "sessionId" => "${session}".to_owned(),
        other => format!("${{row.vars.{other}}}"),
    })
}

/// Where the answer is in the reply: the whole of it, or a path. Functions that return a path are read as well.
fn answer(config: &Object) -> Result<Option<String>, String> {
    let Some(written) = config.get("transformResponse").or_else(|| config.get("responseParser")) else {
        return Ok(None);
    };
    let refused = || format!("where its answer is, is code: `{}`", beginning(&crate::document::plain(written)));
    let code = written.as_str().ok_or_else(refused)?.trim().trim_end_matches(';');
    let code = match code.split_once("=>") {
        Some((parameters, body)) if parameters.trim().trim_start_matches(['(', '{', ' ']).starts_with("json") => {
            body.trim()
        }
        Some(_) => return Err(refused()),
        None => code,
    };
    if matches!(code, "text" | "json") {
        return Ok(None);
    }
    let path = code.strip_prefix("json").ok_or_else(refused)?.replace("?.", ".");
    let path = path.strip_prefix('.').unwrap_or(&path);
    match FieldPath::parse(path).is_ok() && !path.contains("length") {
        true => Ok(Some(path.to_owned())),
        false => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    #[track_caller]
    fn taken(json: &str, expected: &str) {
        let value = parse_json(json).expect("JSON").value.into_owned();
        let found = Provider::read(&value).and_then(|it| application(&it));
        let found = found.map_or_else(|why| format!("refused: {why}"), |it| it.model.to_json());
        assert_eq!(found, expected);
    }

    #[test]
    fn a_request_that_is_a_template_becomes_an_application() {
        taken(
            r#"{"id": "https://a.example/chat?v=1", "config": {"body": {"q": "{{prompt}}", "lang": "in {{ language }}", "n": 3}, "transformResponse": "json.choices[0].message.content"}}"#,
            r#"{"model":"http/a_example","base_url":"https://a.example/chat","request":{"query":{"v":"1"},"body":{"q":"${prompt}","lang":"in ${row.vars.language}","n":3}},"response":{"text":"choices[0].message.content"}}"#,
        );
        taken(
            r#"{"id": "http", "label": "Shop bot", "config": {"url": "{{env.SHOP}}/ask", "method": "get", "queryParams": {"q": "{{prompt}}"}, "headers": {"Authorization": "Bearer {{env.TOKEN}}"}, "responseParser": "(json, text) => json?.answer"}}"#,
            r#"{"model":"http/Shop_bot","base_url":"${SHOP}/ask","headers":{"Authorization":"Bearer ${TOKEN}"},"request":{"method":"GET","query":{"q":"${prompt}"}},"response":{"text":"answer"}}"#,
        );
        taken(
            r#"{"id": "http://127.0.0.1:8/x", "config": {"body": "{\"m\": \"{{prompt}}\", \"s\": \"{{sessionId}}\"}"}}"#,
            r#"{"model":"http/_127_0_0_1","base_url":"http://127.0.0.1:8/x","request":{"body":{"m":"${prompt}","s":"${session}"}}}"#,
        );
    }

    #[test]
    fn code_and_secrets_are_not_taken() {
        taken(
            r#"{"id": "https://a.example", "config": {"body": {}, "transformResponse": "json.a.map(it => it.b)"}}"#,
            "refused: where its answer is, is code: `json.a.map(it => it.b)`",
        );
        taken(
            r#"{"id": "https", "config": {"request": "POST / HTTP/1.1"}}"#,
            "refused: its `request` is not taken over; `http/NAME` is an application, with its request and reply",
        );
        taken(
            r#"{"id": "https://a.example", "config": {"body": {"q": "{{prompt | upper}}"}}}"#,
            "refused: its request has the filter `upper` in `{{ prompt | upper }}`",
        );
        taken(
            r#"{"id": "https://a.example", "config": {"headers": {"x-api-key": "k", "x": "y", "Content-Type": "application/json", "Host": "b"}, "body": "{{prompt}}"}}"#,
            r#"{"model":"http/a_example","base_url":"https://a.example","headers":{"x":"y"},"request":{"body":"${prompt}"}}"#,
        );
    }
}
