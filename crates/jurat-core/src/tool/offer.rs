//! Tools as they are offered to a model.
//!
//! Servers call their tools as they like; models take names of letters, digits, `_` and `-` only, and one tool for each. What a filter
//! removes is not offered, and what is not offered is not called.

use jurat_format::value::{Map, Val, Value};

use super::ToolFilter;
use crate::effect::Tool;

/// The longest name that every provider takes.
const MOST_LETTERS: usize = 64;

/// A tool that a server has.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    pub server: String,
    /// What the server calls it.
    pub name: String,
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl ServerTool {
    /// Reads what a server said: a list of `{name, description, parameters}`.
    pub fn listed(server: &str, tools: &Val<'_>) -> Vec<ServerTool> {
        let tool = |it: &Val<'_>| {
            Some(ServerTool {
                server: server.to_owned(),
                name: it.get("name").and_then(Val::as_str)?.to_owned(),
                description: it.get("description").and_then(Val::as_str).map(str::to_owned),
                parameters: it.get("parameters").map_or_else(empty_schema, |it| it.clone().into_owned()),
            })
        };
        tools.as_list().unwrap_or_default().iter().filter_map(tool).collect()
    }

    /// How it is recorded: what [`ServerTool::listed`] reads.
    pub fn to_value(&self) -> Value {
        let mut members: Map<'static> = Map::default();
        members.insert("name".into(), Val::Str(self.name.clone().into()));
        if let Some(description) = &self.description {
            members.insert("description".into(), Val::Str(description.clone().into()));
        }
        members.insert("parameters".into(), self.parameters.clone());
        Val::Map(members)
    }
}

fn empty_schema() -> Value {
    Val::Map([("type", Val::from("object"))].into_iter().collect::<Map<'_>>())
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// What the model calls it.
    pub name: String,
    pub server: String,
    /// What the server calls it.
    pub tool: String,
    description: Option<String>,
    parameters: Value,
}

impl Offer {
    /// The server of tools that no server has: those of jurat's own. Servers of suites have names.
    pub const OWN: &'static str = "";

    /// A tool of jurat's own.
    pub fn own(tool: Tool) -> Offer {
        let Tool { name, description, parameters } = tool;
        Offer { name: name.clone(), server: Offer::OWN.to_owned(), tool: name, description, parameters }
    }

    /// The tool as a request has it.
    pub fn tool(&self) -> Tool {
        Tool { name: self.name.clone(), description: self.description.clone(), parameters: self.parameters.clone() }
    }
}

/// The tools that are offered of those that there are: each under its own name where only one server has it, else with the name of its server.
pub fn offered<'t>(tools: impl Iterator<Item = &'t ServerTool>, filter: &ToolFilter) -> Vec<Offer> {
    let tools: Vec<&ServerTool> = tools.filter(|it| filter.allows(&it.server, &it.name)).collect();
    let plain: Vec<String> = tools.iter().map(|it| letters(&it.name)).collect();
    let mut offers: Vec<Offer> = Vec::with_capacity(tools.len());
    for (tool, name) in tools.iter().zip(&plain) {
        let is_only = plain.iter().filter(|it| *it == name).count() == 1;
        let name = if is_only { name.clone() } else { letters(&format!("{}__{}", tool.server, tool.name)) };
        let name = unused(name, &offers);
        offers.push(Offer {
            name,
            server: tool.server.clone(),
            tool: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.parameters.clone(),
        });
    }
    offers
}

fn letters(name: &str) -> String {
    let letter = |it: char| if it.is_ascii_alphanumeric() || it == '_' || it == '-' { it } else { '_' };
    let name: String = name.chars().map(letter).take(MOST_LETTERS).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// The name, or with a number behind it when it is taken.
fn unused(name: String, offers: &[Offer]) -> String {
    let is_free = |name: &str| !offers.iter().any(|it| it.name == name);
    if is_free(&name) {
        return name;
    }
    let numbered = (2..).map(|n| {
        let number = format!("_{n}");
        format!("{}{number}", &name[..name.len().min(MOST_LETTERS - number.len())])
    });
    numbered.into_iter().find(|it| is_free(it)).expect("there are more numbers than tools")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ToolName;

    fn tool(server: &str, name: &str) -> ServerTool {
        ServerTool { server: server.to_owned(), name: name.to_owned(), description: None, parameters: empty_schema() }
    }

    #[track_caller]
    fn names(tools: &[ServerTool], filter: &ToolFilter, expected: &[&str]) {
        let offers = offered(tools.iter(), filter);
        assert_eq!(offers.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn names_fit_every_provider_and_are_distinct() {
        let none = ToolFilter::default();
        names(&[tool("time", "now"), tool("fs", "read/file")], &none, &["now", "read_file"]);
        names(&[tool("a", "get"), tool("b", "get"), tool("b", "put")], &none, &["a__get", "b__get", "put"]);
        names(&[tool("a", "get.it"), tool("a", "get it")], &none, &["a__get_it", "a__get_it_2"]);
        names(&[tool("a", &"x".repeat(80))], &none, &[&"x".repeat(64)]);
    }

    #[test]
    fn what_a_filter_removes_is_not_offered() {
        let remove =
            |server: &str, tool: Option<&str>| ToolName { server: server.to_owned(), tool: tool.map(str::to_owned) };
        let tools = [tool("fs", "read"), tool("fs", "write"), tool("web", "read")];
        names(&tools, &ToolFilter { remove: vec![remove("fs", Some("read"))] }, &["write", "read"]);
        names(&tools, &ToolFilter { remove: vec![remove("fs", None)] }, &["read"]);
    }
}
