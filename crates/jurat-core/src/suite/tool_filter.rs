//! `tool_filter`: tools that a model may not use, though their servers have them.
//!
//! ```yaml
//! tool_filter: { remove: [{ server: files, tool: delete }, { server: mail }] }
//! ```

use jurat_format::form::{Form, Key, Keys};
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Map, Node, Spanned, Val, Value};

use crate::tool::{ToolFilter, ToolName};

static TOOL_FILTER: Keys = Keys {
    what: "`tool_filter`",
    keys: &[Key::required("remove", Form::List(&Form::Object(&TOOL)), "the tools that may not be used")],
};

static TOOL: Keys = Keys {
    what: "a tool to remove",
    keys: &[
        Key::required("server", Form::Text, "the server"),
        Key::optional("tool", Form::Text, "the tool").default("all tools of the server"),
    ],
};

pub(super) const FORM: Form = Form::Object(&TOOL_FILTER);

/// Reads a filter. The servers that it names are put to `named`, with their places.
pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>, named: &mut Vec<Spanned<String>>) -> ToolFilter {
    let Some(fields) = Fields::read(reading, &TOOL_FILTER, node) else { return ToolFilter::default() };
    let Some(node) = fields.get("remove") else { return ToolFilter::default() };
    let mut remove = Vec::new();
    for item in reading.list("`remove`", "a list of `{server, tool}`", node) {
        let Some(fields) = Fields::read(reading, &TOOL, item) else { continue };
        let server = fields.get("server").and_then(|it| reading.text("`server`", it));
        let tool = fields.given("tool").and_then(|it| reading.text("`tool`", it));
        if let Some(server) = server {
            named.push(server.clone());
            remove.push(ToolName { server: server.value, tool: tool.map(|it| it.value) });
        }
    }
    ToolFilter { remove }
}

/// A filter as it is written; `None` when it removes nothing.
pub(super) fn written(filter: &ToolFilter) -> Option<Value> {
    let tool = |it: &ToolName| {
        let server = [("server", Val::from(it.server.clone()))].into_iter();
        let tool = it.tool.iter().map(|it| ("tool", Val::from(it.clone())));
        Val::Map(server.chain(tool).collect::<Map<'static>>())
    };
    let remove: Value = filter.remove.iter().map(tool).collect();
    (!filter.remove.is_empty()).then(|| Val::Map([("remove", remove)].into_iter().collect::<Map<'static>>()))
}
