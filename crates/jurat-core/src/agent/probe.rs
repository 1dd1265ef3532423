//! `llm_probe`: a model asked by jurat itself, with tools that work in a workspace. The conversation is a value here; the engine asks and calls.

use jurat_format::value::{Val, Value, parse_json};

use super::runner::{Performer, Runner};
use super::turn_report::{FaultSource, TurnReport};
use super::{AgentCase, ProbeTool};
use crate::artifact::Tokens;
use crate::effect::{Action, Answer, Asker, Message, Messages, ModelRequest, Outcome, Request, Role, Slot, Tool};
use crate::tool::{Conclusion, Inquiry, Offer, Said};

pub(super) static RUNNER: Runner = Runner {
    name: "llm_probe",
    performer: Performer::Model,
    takes_turns: true,
    limits_steps: true,
    takes_servers: true,
    skills: None,
    keys: &["tools", "tool_filter"],
};

/// How long one command may take, in seconds.
pub const SHELL_SECONDS: u64 = 120;

/// How many answers one turn may take with tools, unless its author says.
const MOST_STEPS: u32 = 32;

/// A conversation with a model that has tools.
#[derive(Debug, Clone)]
pub struct Probe<'p> {
    case: &'p AgentCase,
    model: Role,
    replicate: u32,
    /// The tools that jurat has, and those of servers.
    offers: Vec<Offer>,
    messages: Messages,
    report: TurnReport,
    /// The turn that is under way.
    turn: Option<Inquiry>,
    /// The number of calls of the turn that are reported with their results.
    n_returned: usize,
}

/// What comes next in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeStep {
    /// The model is asked.
    Ask(Box<ModelRequest>),
    /// A tool of jurat's own is called, with these arguments.
    Use(ProbeTool, Value),
    /// A tool of a server is called.
    Call {
        server: String,
        tool: String,
        /// What it is called with.
        arguments: Value,
    },
    /// The turn is over.
    Done,
}

impl<'p> Probe<'p> {
    /// A conversation that has not begun. `others` are the tools of servers, beside those that jurat has.
    pub fn new(case: &'p AgentCase, model: impl Into<Role>, replicate: u32, others: Vec<Offer>) -> Probe<'p> {
        let messages = case.system.iter().map(|it| Message::System(it.clone())).collect();
        let offers = case.agent.tools.iter().map(|it| Offer::own(described(*it))).chain(others).collect();
        let (model, report) = (model.into(), TurnReport::default());
        Probe { case, model, replicate, offers, messages, report, turn: None, n_returned: 0 }
    }

    pub fn begin(&mut self, message: String) {
        self.report = TurnReport::default();
        self.report.said(None, "user", message.clone());
        self.messages.push(Message::User(message));
        let request = ModelRequest::new(self.model.clone(), std::mem::take(&mut self.messages));
        let request = ModelRequest { repeat: self.replicate, ..request };
        // The engine knows how often a request may be tried.
        let inquiry = Inquiry::new(request, self.offers.clone(), 1);
        self.turn = Some(inquiry.at_most(self.most_steps()));
        self.n_returned = 0;
    }

    /// What comes next. Calls come one after the other, as each may change what the next one finds.
    pub fn step(&self) -> ProbeStep {
        let mut steps = self.turn.iter().flat_map(|it| it.steps(Asker::Case));
        match steps.next().map(|it| it.request) {
            None => ProbeStep::Done,
            Some(Request::Model(request)) => ProbeStep::Ask(request),
            Some(Request::Action(action)) => match *action {
                Action::CallTool { server, tool, arguments } => match own(&server, &tool) {
                    Some(own) => ProbeStep::Use(own, arguments),
                    None => ProbeStep::Call { server, tool, arguments },
                },
                _ => ProbeStep::Done,
            },
        }
    }

    /// Takes in the outcome of the step that came next.
    pub fn apply(&mut self, outcome: Outcome) {
        let Some(inquiry) = &mut self.turn else { return };
        let Some(site) = inquiry.steps(Asker::Case).first().map(|it| it.site) else { return };
        let Some(slot) = Slot::numbered(site.slot) else { return };
        if let Outcome::Answer(answer) = &outcome {
            add_answer(&mut self.report, answer);
        }
        inquiry.apply(slot, site.turn, outcome);
        for it in &inquiry.dialogue().tool_uses[self.n_returned..] {
            let Some(output) = &it.output else { break };
            self.report.returned(None, Some(it.id.clone()), Some(it.is_error), Val::from(output.clone()));
            self.n_returned += 1;
        }
        let Some(conclusion) = inquiry.conclusion().cloned() else { return };
        self.messages = inquiry.take_dialogue().asked;
        self.turn = None;
        match conclusion {
            Conclusion::Answered(Said { text, tool_calls, .. }) => {
                self.report.response = Some(text.clone());
                self.messages.push(Message::Assistant { text, tool_calls, reasoning: None });
            }
            Conclusion::Refused(Said { text, .. }) => self.report.fail(FaultSource::Refusal, "refused", text),
            Conclusion::StillCalling(_) => {
                let message = format!("the model still calls tools after {} answers", self.most_steps());
                self.report.fail(FaultSource::Agent, "limit_turns", message);
            }
            Conclusion::Fault(fault) => {
                let code = fault.kind.name().replace(':', "_");
                self.report.fail(FaultSource::Provider, code, fault.message.clone());
                if let Some(report) = &mut self.report.fault {
                    report.class.get_or_insert(fault.class);
                }
            }
            Conclusion::NotRun(_) => {}
        }
    }

    /// The report of the turn, once it is over.
    pub fn report(&self) -> &TurnReport {
        &self.report
    }

    fn most_steps(&self) -> u32 {
        self.case.agent.limits.turns.unwrap_or(MOST_STEPS)
    }
}

/// Adds an answer of the model to the report of a turn.
fn add_answer(report: &mut TurnReport, answer: &Answer) {
    if let Some(usage) = &answer.usage {
        report.took(&Tokens {
            input: Some(usage.input),
            output: Some(usage.output),
            total: Some(usage.total()),
            reasoning: Some(usage.reasoning),
            cached_input: Some(usage.cached),
            cache_write: None,
        });
    }
    report.cost(answer.cost_usd);
    report.model = answer.served.model.clone().or(report.model.take());
    if !answer.text.is_empty() {
        report.said(None, "assistant", answer.text.clone());
    }
    for call in &answer.tool_calls {
        report.called(None, Some(call.id.clone()), call.name.clone(), &call.arguments);
    }
}

/// The tool of jurat's own that is called, when it is one.
fn own(server: &str, tool: &str) -> Option<ProbeTool> {
    ProbeTool::named(tool).filter(|_| server == Offer::OWN)
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
