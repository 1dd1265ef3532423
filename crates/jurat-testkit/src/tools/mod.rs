//! A server with tools for tests: as much of the Model Context Protocol as a client needs, and misbehaviour on request.
//!
//! The same tools stand behind two doors: the program `jurat-tools` ([`program`]) talks over its standard input and output, and a
//! [`ToolEndpoint`] over streamable HTTP. What they do is a pure function of what was asked before, here.
//!
//! | tool | does |
//! |---|---|
//! | `echo` | says `message` |
//! | `add` | adds `a` and `b`, as text and as structured content |
//! | `remember` | says how many texts it was given so far |
//! | `picture` | returns an image and a text |
//! | `fail` | reports an error of its own |
//! | `refuse`, `invalid`, `internal` | answer with an error of the protocol: -32601, -32602, -32603 |
//! | `garble` | returns a result that is none |
//! | `environment` | says the variables that it got, each on a line |
//! | `folder` | says the folder that it works in |
//! | `hang` | never answers |
//! | `die` | ends without an answer |
//! | `hold` | as a program: answers nothing any more, until it hears that some call is not waited for; then it answers everything |
//! | `grow` | as a program: adds the tool `late`, and says that its tools changed |
//!
//! On request it has resources as well: a text, an image and bytes of another kind.

mod endpoint;
mod guard;

pub use endpoint::ToolEndpoint;
pub use guard::{Guard, GuardFault, REFRESH, SECRET};

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::process::built;

/// Returns where the program `jurat-tools` is. It is built the first time.
///
/// # Panics
///
/// When it cannot be built.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<std::path::PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("jurat-tools"))
}

/// How a server misbehaves before a tool is called.
#[derive(Debug, Clone, Default)]
pub struct Manners {
    /// How many tools a page has; default: all of them.
    pub page: Option<usize>,
    /// Every page names another one.
    pub is_endless: bool,
    /// It knows no tools at all.
    pub is_bare: bool,
    /// It never answers when greeted.
    pub is_silent: bool,
    /// It has resources, two on a page.
    pub has_resources: bool,
    /// It has a tool `read_resource` of its own.
    pub has_reader: bool,
}

/// The tools, and what they remember.
#[derive(Debug, Default)]
pub struct Tools {
    manners: Manners,
    n_remembered: usize,
    /// Answers that are held back.
    held: Option<Vec<Value>>,
    has_grown: bool,
}

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Answer(Value),
    /// These are messages for the client, one after the other.
    Messages(Vec<Value>),
    /// There is no answer.
    Nothing,
    /// The server ends.
    Die,
}

const NAMES: [&str; 15] = [
    "echo",
    "add",
    "remember",
    "picture",
    "fail",
    "refuse",
    "invalid",
    "internal",
    "garble",
    "environment",
    "folder",
    "hang",
    "die",
    "hold",
    "grow",
];

/// The tool that is added later.
const LATE: &str = "late";

impl Tools {
    /// Makes a server with these manners.
    pub fn new(manners: Manners) -> Tools {
        Tools { manners, ..Tools::default() }
    }

    pub fn take(&mut self, message: &Value) -> Reply {
        if message["method"] == "notifications/cancelled" {
            return self.held.take().map_or(Reply::Nothing, Reply::Messages);
        }
        match (self.answer(message), &mut self.held) {
            (Reply::Answer(answer), Some(held)) => {
                held.push(answer);
                Reply::Nothing
            }
            (Reply::Answer(answer), None) if message["params"]["name"] == "grow" => {
                self.has_grown = true;
                Reply::Messages(vec![json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), answer])
            }
            (reply, _) => reply,
        }
    }

    fn answer(&mut self, message: &Value) -> Reply {
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { return Reply::Nothing };
        let result = match message["method"].as_str() {
            Some("initialize") if self.manners.is_silent => return Reply::Nothing,
            Some("initialize") => Ok(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": if self.manners.has_resources { json!({"tools": {}, "resources": {}}) } else { json!({"tools": {}}) },
                "serverInfo": {"name": "jurat-tools", "version": "1.2.3"},
            })),
            Some("tools/list") if !self.manners.is_bare => Ok(self.page(&message["params"]["cursor"])),
            Some("tools/call") => match self.call(&message["params"]) {
                Called::Result(result) => Ok(result),
                Called::Error(code, text) => Err(json!({"code": code, "message": text})),
                Called::Nothing => return Reply::Nothing,
                Called::Die => return Reply::Die,
            },
            Some("resources/list") if self.manners.has_resources => Ok(resources(&message["params"]["cursor"])),
            Some("resources/read") if self.manners.has_resources => match resource(&message["params"]["uri"]) {
                Some(contents) => Ok(json!({ "contents": [contents] })),
                None => Err(json!({"code": -32002, "message": "there is no such resource"})),
            },
            Some("ping") => Ok(json!({})),
            _ => Err(json!({"code": -32601, "message": "no such method"})),
        };
        Reply::Answer(match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    fn page(&self, cursor: &Value) -> Value {
        let start: usize = cursor.as_str().and_then(|it| it.parse().ok()).unwrap_or(0);
        let n_tools = self.manners.page.unwrap_or(usize::MAX);
        let tool = |name: &&str| {
            let members =
                if **name == *"add" { json!({"a": {"type": "number"}, "b": {"type": "number"}}) } else { json!({}) };
            json!({"name": name, "description": format!("does {name}"), "inputSchema": {"type": "object", "properties": members}})
        };
        let reader = self.manners.has_reader.then_some("read_resource");
        let names: Vec<&str> = NAMES.into_iter().chain(self.has_grown.then_some(LATE)).chain(reader).collect();
        let tools: Vec<Value> = names.iter().skip(start).take(n_tools).map(tool).collect();
        let end = start + tools.len();
        if self.manners.is_endless || end < names.len() {
            return json!({"tools": tools, "nextCursor": end.to_string()});
        }
        json!({ "tools": tools })
    }

    fn call(&mut self, params: &Value) -> Called {
        let arguments = &params["arguments"];
        let text = |it: &str| Called::Result(json!({"content": [{"type": "text", "text": it}]}));
        match params["name"].as_str() {
            Some("echo") => text(arguments["message"].as_str().unwrap_or_default()),
            Some("add") => {
                // Some clients write every number with a fraction.
                let number = |key: &str| {
                    let value = &arguments[key];
                    value.as_i64().or_else(|| value.as_f64().map(|it| it as i64)).unwrap_or_default()
                };
                let sum = number("a") + number("b");
                Called::Result(json!({
                    "content": [{"type": "text", "text": sum.to_string()}],
                    "structuredContent": {"sum": sum, "of": 2},
                }))
            }
            Some("remember") => {
                self.n_remembered += 1;
                text(&self.n_remembered.to_string())
            }
            Some("picture") => Called::Result(json!({"content": [
                {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
                {"type": "text", "text": "a point"},
            ]})),
            Some("fail") => Called::Result(json!({
                "content": [{"type": "text", "text": "it failed"}], "isError": true,
            })),
            Some("refuse") => Called::Error(-32601, "not here"),
            Some("invalid") => Called::Error(-32602, "`a` must be a number"),
            Some("internal") => Called::Error(-32603, "something broke"),
            Some("garble") => Called::Result(json!({"content": "nothing"})),
            Some("environment") => {
                let variables: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                text(&variables.join("\n"))
            }
            Some("folder") => text(&std::env::current_dir().map(|it| it.display().to_string()).unwrap_or_default()),
            Some("hang") => Called::Nothing,
            Some("die") => Called::Die,
            Some("hold") => {
                self.held = Some(Vec::new());
                text("at last")
            }
            Some("grow") => text("there is another tool"),
            Some(LATE) if self.has_grown => text("better than never"),
            _ => Called::Result(json!({
                "content": [{"type": "text", "text": "there is no such tool"}], "isError": true,
            })),
        }
    }
}

/// The resources: an address, a type, and text or bytes in base64.
const RESOURCES: [(&str, &str, Result<&str, &str>); 3] = [
    ("note://today", "text/plain", Ok("rain")),
    ("note://drawing.png", "image/png", Err("iVBORw0KGgo=")),
    ("note://archive", "application/zip", Err("UEsDBAoAAAAAAA==")),
];

fn resources(cursor: &Value) -> Value {
    let start: usize = cursor.as_str().and_then(|it| it.parse().ok()).unwrap_or(0);
    let page: Vec<Value> = RESOURCES
        .iter()
        .skip(start)
        .take(2)
        .map(|(uri, kind, _)| json!({"uri": uri, "name": uri, "mimeType": kind, "annotations": {}}))
        .collect();
    if start + 2 < RESOURCES.len() {
        return json!({"resources": page, "nextCursor": (start + 2).to_string()});
    }
    json!({ "resources": page })
}

fn resource(uri: &Value) -> Option<Value> {
    let (uri, kind, content) = RESOURCES.iter().find(|(it, ..)| uri == it)?;
    Some(match content {
        Ok(text) => json!({"uri": uri, "mimeType": kind, "text": text}),
        Err(blob) => json!({"uri": uri, "mimeType": kind, "blob": blob}),
    })
}

/// What a tool call returns.
enum Called {
    Result(Value),
    Error(i64, &'static str),
    Nothing,
    Die,
}
