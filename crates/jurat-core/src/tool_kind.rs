//! What tools do, in one vocabulary over all agents: `Bash`, `exec` and `run_shell_command` are three names of one kind.
//!
//! The kind follows from the name alone. So it is known of every call, also in artifacts that other programs recorded and in
//! runs that were stored before there were kinds.

use jurat_format::choices;

choices! {
    /// What a tool does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ToolKind {
        /// Runs commands, or controls those that run.
        Shell = "shell",
        /// Reads files.
        Read = "read",
        /// Writes, changes or moves files.
        Write = "write",
        /// Lists files, or finds them by name or content.
        Search = "search",
        /// Searches the web, or fetches pages.
        Web = "web",
        /// Notes what is to be done.
        Plan = "plan",
        /// Gives a part of the task to another agent.
        Agent = "agent",
        /// Loads instructions for a kind of task.
        Skill = "skill",
        /// Any tool of an MCP server.
        Mcp = "mcp",
        /// Everything else.
        Other = "other",
    }
}

impl ToolKind {
    /// The kind of the tool of this name.
    ///
    /// ```
    /// use jurat_core::tool_kind::ToolKind;
    ///
    /// assert_eq!(ToolKind::of("run_shell_command"), ToolKind::Shell);
    /// assert_eq!(ToolKind::of("MultiEdit"), ToolKind::Write);
    /// assert_eq!(ToolKind::of("mcp__tickets__search"), ToolKind::Mcp);
    /// assert_eq!(ToolKind::of("lookup_order"), ToolKind::Other);
    /// ```
    pub fn of(name: &str) -> ToolKind {
        let known = |(_, names): &&(ToolKind, &[&str])| names.iter().any(|it| it.eq_ignore_ascii_case(name));
        match NAMES.iter().find(known) {
            Some((kind, _)) => *kind,
            None if is_of_server(name) => ToolKind::Mcp,
            None => ToolKind::Other,
        }
    }
}

/// Whether agents name tools of MCP servers in this way: `mcp__server__tool` and `mcp_server_tool`, `server__tool`, `server.tool`.
fn is_of_server(name: &str) -> bool {
    let is_joined = |by: &str| name.split_once(by).is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty());
    name.starts_with("mcp_") || is_joined("__") || is_joined(".")
}

/// The names that agents have for their tools; letters count in either case.
#[rustfmt::skip]
static NAMES: &[(ToolKind, &[&str])] = &[
    (ToolKind::Shell, &[
        "bash", "shell", "exec", "exec_shell", "exec_command", "run_command", "run_shell_command", "command_execution", "local_shell", "execute_bash",
        "bash_output", "bashoutput", "kill_shell", "killshell", "killbash", "process", "terminal", "monitor", "write_stdin", "read_bash", "write_bash", "stop_bash",
        "list_bash",
    ]),
    (ToolKind::Read, &["read", "read_file", "read_many_files", "notebookread", "view", "view_image", "read_image", "lsp"]),
    (ToolKind::Write, &[
        "write", "write_file", "create", "create_file", "edit", "edit_file", "multiedit", "multi_edit", "replace", "str_replace", "str_replace_editor",
        "str_replace_based_edit_tool", "file_editor", "notebookedit", "notebook_edit", "patch", "apply_patch", "file_change", "insert",
    ]),
    (ToolKind::Search, &[
        "grep", "grep_search", "search_file_content", "glob", "find", "find_files", "ls", "list", "list_directory", "list_dir", "list_files", "codesearch", "tree",
        "analyze",
    ]),
    (ToolKind::Web, &[
        "web_search", "websearch", "google_web_search", "web_fetch", "webfetch", "fetch", "browser",
    ]),
    (ToolKind::Plan, &[
        "todowrite", "todo_write", "todoread", "todo_read", "write_todos", "todo_list", "update_plan", "enter_plan_mode", "enterplanmode",
        "exit_plan_mode", "exitplanmode", "taskcreate", "taskupdate", "tasklist", "taskget", "todo__todo_write", "task_tracker",
    ]),
    (ToolKind::Agent, &["task", "agent", "invoke_agent", "sessions_spawn", "subagents", "delegate", "read_agent", "write_agent", "list_agents"]),
    (ToolKind::Skill, &["skill", "activate_skill", "load_skill", "load"]),
    (ToolKind::Mcp, &["list_mcp_resources", "read_mcp_resource", "listmcpresources", "listmcpresourcestool", "readmcpresource", "readmcpresourcetool"]),
    // Tools of Goose itself, which it names as it does those of servers.
    (ToolKind::Other, &[
        "apps__create_app", "apps__delete_app", "apps__iterate_app", "apps__list_apps", "extensionmanager__manage_extensions",
        "extensionmanager__search_available_extensions",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that the programs print, and names like them that mean nothing.
    #[test]
    fn names_of_agents_have_kinds() {
        for (names, kind) in [
            ("Bash exec run_shell_command command_execution bash exec_shell read_bash", "shell"),
            ("Read read_file", "read"),
            ("Write Edit replace file_change write_file apply_patch", "write"),
            ("Grep Glob list_directory grep_search find tree", "search"),
            ("WebFetch google_web_search", "web"),
            ("TodoWrite write_todos todo__todo_write", "plan"),
            ("Task invoke_agent delegate", "agent"),
            ("mcp__time__now mcp_time_now time__now time.now", "mcp"),
            ("bash_history reader .now time. __now apps__create_app", "other"),
        ] {
            for name in names.split(' ') {
                assert_eq!(ToolKind::of(name).name(), kind, "{name}");
            }
        }
    }

    #[test]
    fn a_name_has_one_kind() {
        let mut names: Vec<&str> = NAMES.iter().flat_map(|(_, names)| *names).copied().collect();
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }
}
