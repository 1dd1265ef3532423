//! Tools that may not be used, though their servers have them.

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
