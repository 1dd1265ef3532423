//! Servers with tools, for agents that find them through the proxy.
//!
//! The proxy listens on a thread of its own, and the servers belong to the thread that all cases share. So what an agent asks
//! of a server comes here, and is answered beside the agent's turn.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use jurat_core::agent::Agent;
use jurat_core::effect::{Outcome, Returned};
use jurat_core::tool::ServerTool;
use jurat_format::value::{Map, Val, Value};
use jurat_model::proxy::{ToolRequest, ToolServers, ToolWork};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::turns::Task;

/// The time limit of a call of a server's tool.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(600);

/// What an agent asks of its servers.
pub(super) struct ToolDesk(UnboundedReceiver<ToolRequest>);

impl ToolDesk {
    /// Of an agent that may use servers; what the proxy needs of it comes first.
    pub(super) fn open(agent: &Agent) -> Option<(ToolServers, ToolDesk)> {
        let (requests, desk) = unbounded_channel();
        let servers = ToolServers { names: agent.servers.clone(), requests };
        (!agent.servers.is_empty()).then_some((servers, ToolDesk(desk)))
    }

    /// Waits for a turn, and answers what its agent asks meanwhile, several requests at a time.
    pub(super) async fn beside<T>(&mut self, task: Task<'_>, turn: impl Future<Output = T>) -> T {
        let mut turn = pin!(turn);
        let mut open = FuturesUnordered::new();
        loop {
            tokio::select! {
                done = &mut turn => return done,
                Some(request) = self.0.recv() => open.push(answer(task, request)),
                Some(()) = open.next() => {}
            }
        }
    }
}

async fn answer(task: Task<'_>, ToolRequest { server, work, reply }: ToolRequest) {
    let result = match work {
        ToolWork::List => list(task, &server).await,
        ToolWork::Call { tool, arguments } => call(task, &server, &tool, &arguments).await,
    };
    // An agent that has closed its request meanwhile wants no answer.
    drop(reply.send(result));
}

/// The tools that an agent may use of a server.
async fn list(task: Task<'_>, server: &str) -> Result<Value, String> {
    let listed = returned(task.tools.list(server, CALL_TIMEOUT).await)?;
    let filter = &task.case().agent.tool_filter;
    let tools = ServerTool::listed(server, &listed.value).into_iter().filter(|it| filter.allows(server, &it.name));
    Ok(tools.map(entry).collect())
}

fn entry(ServerTool { name, description, parameters, .. }: ServerTool) -> Value {
    let mut members: Map<'static> = [("name", Val::from(name)), ("inputSchema", parameters)].into_iter().collect();
    if let Some(description) = description {
        members.insert("description".into(), Val::from(description));
    }
    Val::Map(members)
}

async fn call(task: Task<'_>, server: &str, tool: &str, arguments: &Value) -> Result<Value, String> {
    if !task.case().agent.tool_filter.allows(server, tool) {
        return Err(format!("there is no tool `{tool}`"));
    }
    let Returned { value, is_error, .. } = returned(task.tools.call(server, tool, arguments, CALL_TIMEOUT).await)?;
    let text = value.get("text").and_then(Val::as_str).map_or_else(|| value.to_json(), str::to_owned);
    let content = [("type", Val::from("text")), ("text", Val::from(text))].into_iter().collect::<Map<'static>>();
    let mut members: Map<'static> =
        [("content", [Val::Map(content)].into_iter().collect()), ("isError", Val::Bool(is_error))]
            .into_iter()
            .collect();
    if let Some(structured) = value.get("structured") {
        members.insert("structuredContent".into(), structured.clone());
    }
    Ok(Val::Map(members))
}

/// What a server returned; or why it returned nothing.
fn returned(outcome: Outcome) -> Result<Returned, String> {
    match outcome {
        Outcome::Returned(returned) => Ok(*returned),
        Outcome::Fault(fault) => Err(fault.message),
        Outcome::Answer(_) | Outcome::Ran(_) | Outcome::NotRun(_) => Err("the server was not asked".to_owned()),
    }
}
