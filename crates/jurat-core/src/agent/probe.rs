//! `llm_probe`: a model asked by jurat itself, with tools that work in a workspace. The conversation is a value here; whoever runs it asks and calls.

use super::told::{FaultSource, Told};
use super::{AgentCase, ProbeTool};
use crate::artifact::Tokens;
use crate::effect::{Answer, Fault, Message, ModelRequest, Tool, ToolCall};
use crate::value::{Val, Value, parse_json};

/// How long one command may take, in seconds.
pub const SHELL_SECONDS: u64 = 120;

/// How many answers one turn may take with tools, unless its author says.
const MOST_STEPS: u32 = 32;

/// A conversation with a model that has tools.
#[derive(Debug, Clone)]
pub struct Probe<'p> {
    case: &'p AgentCase,
    model: String,
    replicate: u32,
    /// The tools of servers, beside those that jurat has.
    others: Vec<Tool>,
    messages: Vec<Message>,
    told: Told,
    n_steps: u32,
    open: Vec<ToolCall>,
    is_done: bool,
}

/// What comes next in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeStep {
    /// The model is asked.
    Ask(Box<ModelRequest>),
    /// A tool of jurat's own is called.
    Use(ProbeTool, ToolCall),
    /// A tool of a server is called.
    Call(ToolCall),
    /// The turn is over.
    Done,
}

impl<'p> Probe<'p> {
    /// A conversation that has not begun.
    pub fn new(case: &'p AgentCase, model: impl Into<String>, replicate: u32, others: Vec<Tool>) -> Probe<'p> {
        let messages = case.system.iter().map(|it| Message::System(it.clone())).collect();
        let (model, told) = (model.into(), Told::default());
        Probe { case, model, replicate, others, messages, told, n_steps: 0, open: Vec::new(), is_done: true }
    }

    /// Begins a turn.
    pub fn begin(&mut self, message: String) {
        self.told = Told::default();
        self.told.said(None, "user", message.clone());
        self.messages.push(Message::User(message));
        (self.n_steps, self.is_done) = (0, false);
        self.open.clear();
    }

    /// What comes next.
    pub fn step(&self) -> ProbeStep {
        if self.is_done {
            return ProbeStep::Done;
        }
        if let Some(call) = self.open.first() {
            let own = ProbeTool::NAMED.iter().find(|(name, _)| *name == call.name);
            let own = own.filter(|(_, tool)| self.case.agent.tools.contains(tool));
            return match own {
                Some((_, tool)) => ProbeStep::Use(*tool, call.clone()),
                None => ProbeStep::Call(call.clone()),
            };
        }
        let mut request = ModelRequest::new(self.model.clone(), self.messages.clone());
        request.tools =
            self.case.agent.tools.iter().map(|it| described(*it)).chain(self.others.iter().cloned()).collect();
        request.repeat = self.replicate;
        ProbeStep::Ask(Box::new(request))
    }

    /// Takes in an answer of the model.
    pub fn answered(&mut self, answer: &Answer) {
        self.n_steps += 1;
        if let Some(usage) = &answer.usage {
            self.told.took(&Tokens {
                input: Some(usage.input),
                output: Some(usage.output),
                total: Some(usage.total()),
                reasoning: Some(usage.reasoning),
                cached_input: Some(usage.cached),
                cache_write: None,
            });
        }
        if let Some(cost) = answer.cost_usd {
            *self.told.usage.cost_usd.get_or_insert(0.0) += cost;
        }
        self.told.model = answer.served.model.clone().or(self.told.model.take());
        if !answer.text.is_empty() {
            self.told.said(None, "assistant", answer.text.clone());
        }
        for call in &answer.tool_calls {
            self.told.called(None, Some(call.id.clone()), call.name.clone(), &call.arguments);
        }
        self.messages.push(Message::Assistant { text: answer.text.clone(), tool_calls: answer.tool_calls.clone() });
        let most = self.case.agent.limits.turns.unwrap_or(MOST_STEPS);
        if answer.tool_calls.is_empty() {
            self.told.response = Some(answer.text.clone());
            self.is_done = true;
        } else if self.n_steps >= most {
            self.told.fail(
                FaultSource::Agent,
                "limit_turns",
                format!("the model still calls tools after {most} answers"),
            );
            self.is_done = true;
        } else {
            self.open = answer.tool_calls.clone();
        }
    }

    /// Takes in that the model gave no answer.
    pub fn unanswered(&mut self, fault: &Fault) {
        self.told.fail(FaultSource::Provider, fault.kind.name().replace(':', "_"), fault.message.clone());
        self.is_done = true;
    }

    /// Takes in what the call that came next came to.
    pub fn returned(&mut self, text: String, is_error: bool) {
        let Some(call) = (!self.open.is_empty()).then(|| self.open.remove(0)) else { return };
        self.told.returned(None, Some(call.id.clone()), Some(is_error), Val::from(text.clone()));
        self.messages.push(Message::Tool { call_id: call.id, name: call.name, text, is_error });
    }

    /// What the turn told, once it is over.
    pub fn told(&self) -> &Told {
        &self.told
    }
}

/// A tool as the model sees it.
fn described(tool: ProbeTool) -> Tool {
    let (description, parameters) = match tool {
        ProbeTool::ExecShell => (
            "Runs a command with bash in the workspace and returns what it prints and how it ended.",
            r#"{"type":"object","properties":{"command":{"type":"string","description":"the command"}},"required":["command"],"additionalProperties":false}"#,
        ),
        ProbeTool::ReadFile => (
            "Returns the text of a file in the workspace.",
            r#"{"type":"object","properties":{"path":{"type":"string","description":"the path, relative to the workspace"}},"required":["path"],"additionalProperties":false}"#,
        ),
        ProbeTool::WriteFile => (
            "Writes a text file in the workspace; directories are made as needed.",
            r#"{"type":"object","properties":{"path":{"type":"string","description":"the path, relative to the workspace"},"content":{"type":"string","description":"what the file will hold"}},"required":["path","content"],"additionalProperties":false}"#,
        ),
    };
    Tool { name: tool.name().to_owned(), description: Some(description.to_owned()), parameters: json(parameters) }
}

fn json(text: &str) -> Value {
    parse_json(text).expect("the schema is JSON").value.into_owned()
}
