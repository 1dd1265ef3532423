//! What servers say, as values.

use jurat_core::effect::{Media, MediaKind, file_name};
use jurat_core::tool::ServerTool;
use jurat_format::value::{Map, Val, Value, parse_json};

use super::session::Listing;

/// A page of what a server has.
#[derive(Debug, PartialEq)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// Where the next page is.
    pub(super) next: Option<String>,
}

/// What a tool said.
#[derive(Debug, PartialEq)]
pub(super) struct Said {
    /// `{text, structured}`
    pub(super) value: Value,
    /// What models can be shown of what is no text.
    pub(super) media: Vec<Media>,
    pub(super) is_error: bool,
}

impl Said {
    pub(super) fn error(text: impl Into<String>) -> Said {
        Said { is_error: true, ..Said::new(text.into(), Vec::new()) }
    }

    /// A value, whose JSON is the text as well.
    pub(super) fn structured(value: Value) -> Said {
        let members = [("text", Val::from(value.to_json())), ("structured", value)];
        Said { value: Val::Map(members.into_iter().collect()), media: Vec::new(), is_error: false }
    }

    fn new(text: String, media: Vec<Media>) -> Said {
        Said { value: Val::Map([("text", Val::from(text))].into_iter().collect()), media, is_error: false }
    }
}

/// Reads the result of a listing. What is wrong with it is said in words that continue "the server …".
pub(super) fn page<T>(
    Listing { method, items }: Listing,
    text: &str,
    item: impl Fn(&Value) -> Result<T, String>,
) -> Result<Page<T>, String> {
    let result = value(text)?;
    let Some(listed) = result.get(items).and_then(Val::as_list) else {
        return Err(format!("answered `{method}` without a list of `{items}`"));
    };
    let items = listed.iter().map(item).collect::<Result<_, String>>()?;
    Ok(Page { items, next: result.get("nextCursor").and_then(Val::as_str).map(str::to_owned) })
}

/// A tool as `tools/list` has it.
pub(super) fn tool(server: &str, listed: &Value) -> Result<ServerTool, String> {
    let name = listed.get("name").and_then(Val::as_str).ok_or("has a tool without a name")?;
    let parameters = listed.get("inputSchema").cloned();
    Ok(ServerTool {
        server: server.to_owned(),
        name: name.to_owned(),
        description: listed.get("description").and_then(Val::as_str).map(str::to_owned),
        parameters: parameters.ok_or_else(|| format!("has a tool `{name}` without a schema"))?,
    })
}

/// Reads the result of `resources/read`.
pub(super) fn contents(uri: &str, text: &str) -> Result<Said, String> {
    let result = value(text)?;
    let Some(contents) = result.get("contents").and_then(Val::as_list) else {
        return Err(format!("answered the question for `{uri}` without a list of `contents`"));
    };
    let text = contents.iter().map(resource_words).collect::<Vec<_>>().join("\n");
    Ok(Said::new(text, contents.iter().filter_map(of_resource).collect()))
}

/// Reads the result of `tools/call`.
pub(super) fn said(tool: &str, text: &str) -> Result<Said, String> {
    let result = value(text)?;
    let structured = result.get("structuredContent").filter(|it| **it != Val::Null);
    let contents = match result.get("content") {
        Some(content) => content.as_list(),
        None => structured.map(|_| [].as_slice()),
    };
    let Some(contents) = contents else {
        return Err(format!("answered the call of `{tool}` without a list of `content`"));
    };
    let mut text = contents.iter().map(words).collect::<Vec<_>>().join("\n");
    let media = contents.iter().filter_map(media).collect();
    if let (true, Some(structured)) = (contents.is_empty(), structured) {
        // A reader of the text alone would see nothing.
        text = structured.to_json();
    }
    let mut members: Map<'static> = [("text", Val::from(text))].into_iter().collect();
    if let Some(structured) = structured {
        members.insert("structured".into(), structured.clone());
    }
    Ok(Said { value: Val::Map(members), media, is_error: result.get("isError") == Some(&Val::Bool(true)) })
}

fn value(text: &str) -> Result<Value, String> {
    match parse_json(text) {
        Ok(parsed) => Ok(parsed.value.into_owned()),
        Err(error) => Err(format!("wrote a result that cannot be read: {error}")),
    }
}

/// Content as text: text as it is, everything else as a few words in brackets.
fn words(content: &Value) -> String {
    let member = |key: &str| content.get(key).and_then(Val::as_str);
    match member("type") {
        Some("text") => member("text").unwrap_or_default().to_owned(),
        Some(kind @ ("image" | "audio")) => {
            let data = member("data").unwrap_or_default();
            bracketed(kind, &[member("mimeType"), Some(&bytes(data))])
        }
        Some("resource_link") => bracketed("link", &[member("name"), member("uri"), member("mimeType")]),
        Some("resource") => resource_words(content.get("resource").unwrap_or(&Val::Null)),
        other => bracketed(other.unwrap_or("content of no kind"), &[]),
    }
}

fn resource_words(resource: &Value) -> String {
    let member = |key: &str| resource.get(key).and_then(Val::as_str);
    match member("text") {
        Some(text) => text.to_owned(),
        None => {
            let size = bytes(member("blob").unwrap_or_default());
            bracketed("resource", &[member("uri"), member("mimeType"), Some(&size)])
        }
    }
}

/// What a model can be shown of content. What it is, its bytes say; what is something else stays a few words.
fn media(content: &Value) -> Option<Media> {
    match content.get("type").and_then(Val::as_str)? {
        "image" | "audio" => {
            let media = Media::of_any_base64(content.get("data").and_then(Val::as_str)?, None).ok()?;
            (media.kind != MediaKind::Pdf).then_some(media)
        }
        "resource" => of_resource(content.get("resource")?),
        _ => None,
    }
}

/// A blob is called what the last part of its address is.
fn of_resource(resource: &Value) -> Option<Media> {
    let name = resource.get("uri").and_then(Val::as_str).map(file_name).filter(|it| !it.is_empty());
    Media::of_any_base64(resource.get("blob").and_then(Val::as_str)?, name).ok()
}

fn bracketed(kind: &str, details: &[Option<&str>]) -> String {
    let details: Vec<&str> = details.iter().copied().flatten().collect();
    let colon = if details.is_empty() { "" } else { ": " };
    format!("[{kind}{colon}{}]", details.join(", "))
}

/// The size of what stands in base64.
fn bytes(base64: &str) -> String {
    let n_letters = base64.bytes().filter(|it| it.is_ascii_alphanumeric() || b"+/-_".contains(it)).count();
    match n_letters * 3 / 4 {
        1 => "1 byte".to_owned(),
        n => format!("{n} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(result: &str, expected: &str) {
        let shown = match said("draw", result) {
            Ok(Said { value, is_error, .. }) => format!("{}{}", if is_error { "error: " } else { "" }, value.to_json()),
            Err(problem) => format!("fault: {problem}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_a_tool_returns_is_its_texts_and_words_about_the_rest() {
        says(r#"{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}"#, r#"{"text":"a\nb"}"#);
        says(r#"{"content": [{"type": "text", "text": "no"}], "isError": true}"#, r#"error: {"text":"no"}"#);
        says(
            r#"{"content": [{"type": "image", "mimeType": "image/png", "data": "aGFsbG8="}, {"type": "audio", "data": "aA=="}]}"#,
            r#"{"text":"[image: image/png, 5 bytes]\n[audio: 1 byte]"}"#,
        );
        says(
            r#"{"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "in it"}},
                {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "x/y", "blob": "AAAA"}},
                {"type": "resource_link", "uri": "file:///c", "name": "c"}, {"type": "smell"}, {}]}"#,
            r#"{"text":"in it\n[resource: file:///b, x/y, 3 bytes]\n[link: c, file:///c]\n[smell]\n[content of no kind]"}"#,
        );
    }

    #[test]
    fn images_and_audio_are_what_their_bytes_are() {
        let result = r#"{"content": [
            {"type": "image", "mimeType": "image/gif", "data": "iVBORw0KGgo="},
            {"type": "image", "mimeType": "image/png", "data": "aGFsbG8="},
            {"type": "audio", "mimeType": "audio/mpeg", "data": "SUQzBAAAAAAAAA=="},
            {"type": "resource", "resource": {"uri": "file:///a/page.pdf", "blob": "JVBERi0xLjcK"}},
            {"type": "resource", "resource": {"uri": "file:///a/b.zip", "blob": "UEsDBAoAAAAAAA=="}},
            {"type": "text", "text": "seen"}]}"#;
        let said = said("draw", result).expect("it is a result");
        let media: Vec<String> = said.media.iter().map(Media::summary).collect();
        assert_eq!(media, ["image/png, 8 bytes", "audio/mpeg, 10 bytes", "application/pdf, 9 bytes, page.pdf"]);
        assert!(said.value.to_json().contains("[image: image/gif, 8 bytes]"), "{}", said.value.to_json());
    }

    #[test]
    fn structured_content_is_passed_on_and_is_the_text_when_there_is_no_other() {
        says(
            r#"{"content": [{"type": "text", "text": "warm"}], "structuredContent": {"b": 1.0, "a": 12345678901234567890123}}"#,
            r#"{"text":"warm","structured":{"b":1.0,"a":12345678901234567890123}}"#,
        );
        says(r#"{"structuredContent": {"b": 1}}"#, r#"{"text":"{\"b\":1}","structured":{"b":1}}"#);
        says(r#"{"content": [], "structuredContent": null}"#, r#"{"text":""}"#);
        says(r#"{}"#, "fault: answered the call of `draw` without a list of `content`");
        says(r#"{"content": "a"}"#, "fault: answered the call of `draw` without a list of `content`");
    }

    #[test]
    fn tools_keep_the_order_of_their_schemas() {
        let page = |text| page(Listing::TOOLS, text, |it| tool("s", it));
        let read = page(r#"{"tools": [{"name": "t", "inputSchema": {"z": 1, "a": 2}}], "nextCursor": "2"}"#);
        let read = read.expect("it is a page");
        assert_eq!(
            (read.items[0].parameters.to_json().as_str(), read.next.as_deref()),
            (r#"{"z":1,"a":2}"#, Some("2"))
        );
        for (result, problem) in [
            ("{}", "answered `tools/list` without a list of `tools`"),
            (r#"{"tools": [{}]}"#, "has a tool without a name"),
            (r#"{"tools": [{"name": "t"}]}"#, "has a tool `t` without a schema"),
        ] {
            assert_eq!(page(result), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_resource_is_text_or_media_or_words() {
        let said = contents(
            "file:///a",
            r#"{"contents": [{"uri": "file:///a", "text": "in it"}, {"uri": "file:///p.pdf", "mimeType": "application/pdf", "blob": "JVBERi0xLjcK"},
                {"uri": "file:///z", "blob": "AAAA"}]}"#,
        );
        let said = said.expect("it is a result");
        let words =
            r#"{"text":"in it\n[resource: file:///p.pdf, application/pdf, 9 bytes]\n[resource: file:///z, 3 bytes]"}"#;
        assert_eq!(said.value.to_json(), words);
        let media: Vec<String> = said.media.iter().map(Media::summary).collect();
        assert_eq!(media, ["application/pdf, 9 bytes, p.pdf"]);
        let wrong = contents("file:///a", r#"{"content": []}"#);
        assert_eq!(wrong, Err("answered the question for `file:///a` without a list of `contents`".to_owned()));
    }
}
