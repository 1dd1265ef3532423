//! `tool_filter`: tools that a model may not use, though their servers have them.
//!
//! ```yaml
//! tool_filter: { remove: [{ server: files, tool: delete }, { server: mail }] }
//! ```

use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Map, Node, Spanned, Val, Value};

/// Tools that may not be used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolFilter {
    pub remove: Vec<ToolName>,
}

impl ToolFilter {
    /// Whether a tool is left.
    pub fn allows(&self, server: &str, tool: &str) -> bool {
        !self.remove.iter().any(|it| it.server == server && it.tool.as_deref().is_none_or(|it| it == tool))
    }
}

/// A tool of a server, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolName {
    pub server: String,
    /// The tool; `None` for all of them.
    pub tool: Option<String>,
}

const REMOVE: Field<Vec<(Spanned<String>, Option<String>)>> = Field::required(
    "remove",
    Shape::new(const { Form::List(&Form::Object(&TOOL_REMOVED)) }, tools),
    "the tools that may not be used",
);

static TOOL_FILTER: Object = Object { what: "`tool_filter`", keys: &[REMOVE.key] };

const SERVER: Field<Spanned<String>> = Field::required("server", shape::TEXT, "the server");
const TOOL: Field<String> =
    Field::optional("tool", shape::STRING, "the tool").or_null().default_words("all tools of the server");

static TOOL_REMOVED: Object = Object { what: "a tool to remove", keys: &[SERVER.key, TOOL.key] };

/// A filter, and the servers that it names, with their places.
pub(crate) const SHAPE: Shape<(ToolFilter, Vec<Spanned<String>>)> = Shape::new(Form::Object(&TOOL_FILTER), read);

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<(ToolFilter, Vec<Spanned<String>>)> {
    let fields = TOOL_FILTER.fields(reading, node)?;
    let mut filter = ToolFilter::default();
    let mut named = Vec::new();
    for (server, tool) in fields.read(reading, &REMOVE).unwrap_or_default() {
        named.push(server.clone());
        filter.remove.push(ToolName { server: server.value, tool });
    }
    Some((filter, named))
}

/// Reads servers, each with a tool or with all of them.
fn tools(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(Spanned<String>, Option<String>)>> {
    let mut tools = Vec::new();
    for item in reading.list(what, "a list of `{server, tool}`", node) {
        let Some(fields) = TOOL_REMOVED.fields(reading, item) else { continue };
        let (server, tool) = (fields.read(reading, &SERVER), fields.read(reading, &TOOL));
        tools.extend(server.map(|it| (it, tool)));
    }
    Some(tools)
}

/// A filter as it is written; `None` when it removes nothing.
pub(crate) fn written(filter: &ToolFilter) -> Option<Value> {
    let tool = |it: &ToolName| {
        let server = [("server", Val::from(it.server.clone()))].into_iter();
        let tool = it.tool.iter().map(|it| ("tool", Val::from(it.clone())));
        Val::Map(server.chain(tool).collect::<Map<'static>>())
    };
    let remove: Value = filter.remove.iter().map(tool).collect();
    (!filter.remove.is_empty()).then(|| Val::Map([("remove", remove)].into_iter().collect::<Map<'static>>()))
}
