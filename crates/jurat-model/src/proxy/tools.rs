//! The servers with tools of a suite, as an agent finds them: `/mcp/NAME`, over streamable HTTP.
//!
//! The proxy answers as a server of the Model Context Protocol, and hands what is asked for to the program that has the servers
//! ([`ToolRequest`]). So a server runs outside the agent's sandbox, its secrets stay there, and every call is written down with
//! the other exchanges. Only tools are offered: neither resources nor prompts.

use http::{Method, StatusCode};
use jurat_format::value::{Map, Val, Value, parse_json};
use tokio::sync::{mpsc, oneshot};

use super::Given;

/// The path below which servers are found.
pub const PATH: &str = "/mcp/";

/// The revisions of the protocol that are answered as they were asked for; the first one for all others.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The servers that an agent may use.
#[derive(Debug, Clone)]
pub struct ToolServers {
    pub names: Vec<String>,
    /// Where their work is done.
    pub requests: mpsc::UnboundedSender<ToolRequest>,
}

/// What an agent asks of a server.
#[derive(Debug)]
pub struct ToolRequest {
    pub server: String,
    pub work: ToolWork,
    /// Where the result goes: that of the protocol's method, or why there is none.
    pub reply: oneshot::Sender<Result<Value, String>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ToolWork {
    /// The tools that it has: a list of `{name, description, inputSchema}`.
    List,
    /// A call: `{content, structuredContent, isError}`.
    Call { tool: String, arguments: Value },
}

/// A message that was understood.
#[derive(Debug, PartialEq)]
enum Asked {
    /// It wants no answer.
    Notified,
    /// It is answered here.
    Answered(Value),
    /// A server has to answer it.
    Work { id: Value, work: ToolWork },
}

impl ToolServers {
    /// What an agent is answered that asks the server at a path.
    pub(super) async fn answer(&self, method: &Method, path: &str, body: &[u8]) -> Given {
        let name = path.strip_prefix(PATH).unwrap_or_default();
        let Some(server) = self.names.iter().find(|it| *it == name) else {
            return refused(StatusCode::NOT_FOUND, &format!("there is no server `{name}` for this agent"));
        };
        if method != Method::POST {
            // A client that would listen for messages of the server learns that there are none.
            return refused(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST");
        }
        match asked(server, body) {
            Asked::Notified => Given { status: 202, content_type: "application/json".to_owned(), body: "".into() },
            Asked::Answered(answer) => Given::json(answer.to_json()),
            Asked::Work { id, work } => {
                let is_list = work == ToolWork::List;
                let answer = match self.work(server, work).await {
                    Ok(tools) if is_list => answered(id, object([("tools", tools)])),
                    Ok(result) => answered(id, result),
                    Err(why) => failed(id, INTERNAL, &why),
                };
                Given::json(answer.to_json())
            }
        }
    }

    async fn work(&self, server: &str, work: ToolWork) -> Result<Value, String> {
        let (reply, replied) = oneshot::channel();
        let over = || "the run of the agent is over".to_owned();
        self.requests.send(ToolRequest { server: server.to_owned(), work, reply }).map_err(|_| over())?;
        replied.await.map_err(|_| over())?
    }
}

const INVALID: i32 = -32600;
const NO_METHOD: i32 = -32601;
const WRONG_ARGUMENTS: i32 = -32602;
const INTERNAL: i32 = -32603;
const NOT_JSON: i32 = -32700;

/// Reads a message of JSON-RPC.
fn asked(server: &str, body: &[u8]) -> Asked {
    let text = String::from_utf8_lossy(body);
    let message = match parse_json(&text) {
        Ok(parsed) => parsed.value.into_owned(),
        Err(error) => return Asked::Answered(failed(Val::Null, NOT_JSON, &format!("this is not JSON: {error}"))),
    };
    let method = message.get("method").and_then(Val::as_str);
    let (id, Some(method)) = (message.get("id").cloned(), method) else {
        return match message.get("result").or(message.get("error")) {
            // An answer to something that was never asked.
            Some(_) => Asked::Notified,
            None => Asked::Answered(failed(Val::Null, INVALID, "a message has a `method`")),
        };
    };
    let Some(id) = id else { return Asked::Notified };
    let parameter = |key: &str| message.get("params").and_then(|it| it.get(key));
    match method {
        "initialize" => {
            Asked::Answered(answered(id, greeting(server, parameter("protocolVersion").and_then(Val::as_str))))
        }
        "ping" => Asked::Answered(answered(id, object([]))),
        "tools/list" => Asked::Work { id, work: ToolWork::List },
        "tools/call" => match parameter("name").and_then(Val::as_str) {
            None => Asked::Answered(failed(id, WRONG_ARGUMENTS, "`name` says which tool is called")),
            Some(tool) => {
                let arguments = parameter("arguments").cloned().unwrap_or_else(|| object([]));
                Asked::Work { id, work: ToolWork::Call { tool: tool.to_owned(), arguments } }
            }
        },
        other => Asked::Answered(failed(id, NO_METHOD, &format!("there is no method `{other}`"))),
    }
}

fn greeting(server: &str, revision: Option<&str>) -> Value {
    let revision = REVISIONS.into_iter().find(|it| Some(*it) == revision).unwrap_or(REVISIONS[0]);
    let name = object([("name", Val::from(server.to_owned())), ("version", Val::from(env!("CARGO_PKG_VERSION")))]);
    object([
        ("protocolVersion", Val::from(revision)),
        ("capabilities", object([("tools", object([]))])),
        ("serverInfo", name),
    ])
}

fn answered(id: Value, result: Value) -> Value {
    object([("jsonrpc", Val::from("2.0")), ("id", id), ("result", result)])
}

fn failed(id: Value, code: i32, message: &str) -> Value {
    let error = object([("code", Val::I(code.into())), ("message", Val::from(message.to_owned()))]);
    object([("jsonrpc", Val::from("2.0")), ("id", id), ("error", error)])
}

fn refused(status: StatusCode, message: &str) -> Given {
    let body = object([("error", Val::from(message.to_owned()))]).to_json();
    Given { status: status.as_u16(), ..Given::json(body) }
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered without a server, or what a server is asked.
    #[track_caller]
    fn is_asked(body: &str, expected: &str) {
        let got = match asked("time", body.as_bytes()) {
            Asked::Notified => "nothing".to_owned(),
            Asked::Answered(answer) => answer.to_json(),
            Asked::Work { id, work: ToolWork::List } => format!("{id}: list"),
            Asked::Work { id, work: ToolWork::Call { tool, arguments } } => format!("{id}: {tool}({arguments})"),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn messages_of_the_protocol_are_understood() {
        is_asked(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            &format!(
                r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"time","version":"{}"}}}}}}"#,
                env!("CARGO_PKG_VERSION")
            ),
        );
        is_asked(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "nothing");
        is_asked(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, r#"{"jsonrpc":"2.0","id":"a","result":{}}"#);
        is_asked(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "1: list");
        is_asked(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"now","arguments":{"zone":"UTC"}}}"#,
            r#"2: now({"zone": "UTC"})"#,
        );
        is_asked(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"now"}}"#, "3: now({})");
    }

    #[test]
    fn what_is_no_message_is_an_error_of_the_protocol() {
        is_asked(
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no method `resources/list`"}}"#,
        );
        is_asked(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`name` says which tool is called"}}"#,
        );
        is_asked("[]", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message has a `method`"}}"#);
    }
}
