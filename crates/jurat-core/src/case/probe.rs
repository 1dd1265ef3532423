//! A row about which a model is asked; the model may call tools before it answers.
//!
//! Pure, like [`CaseState`](super::CaseState), which judges the answer. What a subject says is evidence, whatever it is; only where no answer came there is
//! nothing to judge.

use jurat_format::value::{Context, Val, Value, parse_json};

use crate::chat::Unbound;
use crate::effect::{
    Action, Asker, Fault, FileRef, FoundFiles, Media, Message, ModelRequest, NO_LOGPROBS, Outcome, Role, Slot, Step,
    StepSite, ToolCall, files_found,
};
use crate::evidence::probe::{self, Exchange};
use crate::plan::{Asking, PlannedAsk, Transformed};
use crate::tool::{Conclusion, Dialogue, Inquiry, Listing, Said, ToolUse};
use crate::verdict::Verdict;

/// A row about which a model is asked, and how far that has come.
#[derive(Debug, Clone)]
pub struct ProbeState<'p> {
    ask: &'p PlannedAsk,
    /// Whether the model is asked for the probabilities of its tokens.
    wants_logprobs: bool,
    tools: Listing,
    phase: Phase,
}

/// What a subject answered, and the dialogue before it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeAnswer {
    /// What was said before, and what all of it took.
    pub dialogue: Dialogue,
    pub said: Said,
    /// What the answer became, where a function transformed it.
    pub transformed: Option<Value>,
}

/// What is waited for.
#[derive(Debug, Clone)]
enum Phase {
    /// Files to be read that are sent.
    Attaching { action: Action, question: Question },
    /// Servers to say which tools they have, before this is asked.
    Listing(Box<ModelRequest>),
    /// The model to answer, and the tools that it calls to return.
    Asking(Box<Inquiry>),
    /// Code to transform the answer.
    Transforming { action: Action, answer: Box<ProbeAnswer> },
    /// Nothing: it is over.
    Done(Result<Box<ProbeAnswer>, Verdict>),
}

/// What is asked about a row: which prompt, of whom, and which repetition it is.
#[derive(Debug, Clone)]
struct Question {
    prompt: usize,
    model: Role,
    replicate: u32,
}

impl<'p> ProbeState<'p> {
    /// A row at its beginning: one of the prompts is asked of one model.
    pub fn start(ask: &'p PlannedAsk, prompt: usize, model: &Role, row: &Val<'_>, replicate: u32) -> ProbeState<'p> {
        let question = Question { prompt, model: model.clone(), replicate };
        let phase = begun(ask, question, row, &[]);
        let wants_logprobs = ask.logprobs.contains(model);
        let mut state = ProbeState { ask, wants_logprobs, tools: Listing::default(), phase };
        state.tools.need(&ask.tools);
        state.after_listing();
        state
    }

    /// The requests that may be made now, given every outcome so far.
    pub fn steps(&self) -> Vec<Step> {
        match &self.phase {
            Phase::Attaching { action, .. } => vec![Step::action(Asker::Case, Slot::Attach, 0, action.clone())],
            Phase::Listing(_) => self.tools.steps(Asker::Case),
            Phase::Asking(inquiry) => inquiry.steps(Asker::Case),
            Phase::Transforming { action, .. } => {
                vec![Step::action(Asker::Case, Slot::Transform, 0, action.clone())]
            }
            Phase::Done(_) => Vec::new(),
        }
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, row: &Val<'_>, site: StepSite, outcome: Outcome) {
        let Some(slot) = Slot::numbered(site.slot).filter(|_| site.asker == Asker::Case) else { return };
        match (slot, &mut self.phase) {
            (Slot::Attach, Phase::Attaching { action, question }) => {
                self.phase = match attached(action, outcome) {
                    Ok(files) => begun(self.ask, question.clone(), row, &files),
                    Err(verdict) => Phase::Done(Err(verdict)),
                };
                self.after_listing();
            }
            (Slot::Tools, Phase::Listing(_)) => match outcome {
                Outcome::NotRun(reason) => self.phase = Phase::Done(Err(Verdict::NotRun(reason))),
                outcome => {
                    self.tools.apply(site.turn, &outcome);
                    self.after_listing();
                }
            },
            (Slot::Subject | Slot::Tool, Phase::Asking(inquiry)) => {
                inquiry.apply(slot, site.turn, outcome);
                self.after_asking(row);
            }
            (Slot::Transform, Phase::Transforming { answer, .. }) => {
                let answer = ProbeAnswer { transformed: None, ..(**answer).clone() };
                let transform = self.ask.transform.as_ref();
                let value = transform.map(|it| it.returned(outcome)).transpose();
                self.phase = Phase::Done(value.map(|transformed| Box::new(ProbeAnswer { transformed, ..answer })));
            }
            _ => {}
        }
    }

    /// What the subject answered, or what its case ends with, once it is over.
    pub fn end(&self) -> Option<Result<&ProbeAnswer, &Verdict>> {
        match &self.phase {
            Phase::Done(end) => Some(end.as_deref()),
            Phase::Attaching { .. } | Phase::Listing(_) | Phase::Asking(_) | Phase::Transforming { .. } => None,
        }
    }

    fn after_listing(&mut self) {
        let Phase::Listing(request) = &mut self.phase else { return };
        if !self.tools.is_done() {
            return;
        }
        self.phase = match self.tools.failure() {
            Some(reason) => Phase::Done(Err(Verdict::error(reason))),
            None => {
                let request = std::mem::replace(&mut **request, ModelRequest::new("", Vec::new()));
                let offers = self.tools.offers(&self.ask.tool_filter);
                let inquiry = Inquiry::new(request, offers, self.ask.max_retries.saturating_add(1));
                // Where there are no tools, what calls one is an answer like any other.
                Phase::Asking(Box::new(inquiry.at_most(self.ask.most_rounds())))
            }
        };
    }

    fn after_asking(&mut self, row: &Val<'_>) {
        let Phase::Asking(inquiry) = &mut self.phase else { return };
        let Some(conclusion) = inquiry.conclusion().cloned() else { return };
        let dialogue = inquiry.take_dialogue();
        self.phase = match conclusion {
            // What tasks would find in its place is a member of the row.
            Conclusion::Answered(said) if self.wants_logprobs && lacks_logprobs(&dialogue, &said) => {
                Phase::Done(Err(Verdict::error(NO_LOGPROBS)))
            }
            Conclusion::Answered(said) | Conclusion::Refused(said) | Conclusion::StillCalling(said) => {
                answered(self.ask, row, ProbeAnswer { dialogue, said, transformed: None })
            }
            Conclusion::Fault(fault) => Phase::Done(Err(no_answer(&fault))),
            Conclusion::NotRun(reason) => Phase::Done(Err(Verdict::NotRun(reason))),
        };
    }
}

/// Begins to ask, once everything is known that is sent.
fn begun(ask: &PlannedAsk, question: Question, row: &Val<'_>, files: &FoundFiles) -> Phase {
    match request(ask, &question, row, files) {
        Ok(request) => Phase::Listing(Box::new(request)),
        Err(Unbound::Files(files)) => Phase::Attaching { action: Action::Attach { files }, question },
        Err(Unbound::Fault(reason)) => Phase::Done(Err(Verdict::error(reason))),
    }
}

/// Whether something was said, but not how likely its tokens were.
fn lacks_logprobs(dialogue: &Dialogue, said: &Said) -> bool {
    !said.text.is_empty() && dialogue.logprobs.is_none()
}

/// What follows from an answer: a function may have to transform it.
fn answered(ask: &PlannedAsk, row: &Val<'_>, answer: ProbeAnswer) -> Phase {
    let answer = Box::new(answer);
    let Some(transform) = ask.transform.as_ref().filter(|it| it.call.is_some()) else { return Phase::Done(Ok(answer)) };
    let original = original(ask, &answer.said);
    let seen = exchange(ask, &answer, original.borrowed(), None).over(row.borrowed());
    match transform.begin(&original, Context::of(&seen)) {
        Ok(Transformed::Call(action)) => Phase::Transforming { action, answer: answer.clone() },
        Ok(Transformed::Value(value)) => {
            let transformed = Some(value);
            Phase::Done(Ok(Box::new(ProbeAnswer { transformed, ..(*answer).clone() })))
        }
        Err(reason) => Phase::Done(Err(Verdict::error(reason))),
    }
}

/// What is asked about a row. The replicate is part of the question, so that asking again is asking anew.
fn request(ask: &PlannedAsk, question: &Question, row: &Val<'_>, files: &FoundFiles) -> Result<ModelRequest, Unbound> {
    let context = Context::of(row);
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &ask.system {
        messages.push(Message::System(system.bound(context)?));
    }
    let (_, prompt) = ask.prompts.get(question.prompt).ok_or_else(|| "there is no such prompt".to_owned())?;
    let mut prompt_cache = Vec::new();
    match prompt {
        Asking::Chat(chat) => (messages, prompt_cache) = chat.bind(messages, context, files)?,
        Asking::Row => messages.push(Message::User(row.to_json())),
        Asking::Talk(_) => unreachable!("a conversation about a row is a traversal"),
    }
    let row = ask.row_paths.of(&question.model, row);
    let request = ModelRequest::new(question.model.clone(), messages);
    Ok(ModelRequest { output: ask.output.clone(), repeat: question.replicate, row, prompt_cache, ..request })
}

/// A file that a request names, and what is in it or why that cannot be used.
type Attached = (FileRef, Result<Media, String>);

/// What was found of files, or what a case ends with that could not look.
pub(super) fn attached(action: &Action, outcome: Outcome) -> Result<Vec<Attached>, Verdict> {
    let Action::Attach { files } = action else { return Err(Verdict::error("no files were to be read")) };
    match outcome {
        Outcome::Returned(returned) => {
            let found = files_found(files, &returned.value);
            found.ok_or_else(|| Verdict::error("what was found of the files cannot be read"))
        }
        Outcome::Fault(fault) => Err(Verdict::error(fault.message)),
        Outcome::NotRun(reason) => Err(Verdict::NotRun(reason)),
        Outcome::Answer(_) | Outcome::Ran(_) => Err(Verdict::error("a model does not read files")),
    }
}

fn no_answer(fault: &Fault) -> Verdict {
    Verdict::error(format!("the subject gave no answer: {}", fault.text()))
}

/// The evidence of a probe that was answered.
pub(super) fn evidence<'e>(ask: &PlannedAsk, row: Val<'e>, answer: &'e ProbeAnswer) -> Result<Val<'e>, Verdict> {
    let said = original(ask, &answer.said);
    let (output, original) = match (&ask.transform, &answer.transformed) {
        (None, _) => (said, None),
        (Some(_), Some(transformed)) => (transformed.borrowed(), Some(said)),
        (Some(transform), None) => match transform.begin(&said, Context::of(&row)).map_err(Verdict::error)? {
            Transformed::Value(value) => (value, Some(said)),
            Transformed::Call(_) => return Err(Verdict::error("the answer was not transformed")),
        },
    };
    Ok(exchange(ask, answer, output, original).over(row))
}

/// What was answered: a value where the subject was given the row itself, else text.
fn original<'e>(ask: &PlannedAsk, said: &'e Said) -> Val<'e> {
    if ask.sends_row() { value_of(&said.text) } else { Val::from(said.text.as_str()) }
}

fn exchange<'e>(ask: &PlannedAsk, answer: &'e ProbeAnswer, output: Val<'e>, original: Option<Val<'e>>) -> Exchange<'e> {
    let ProbeAnswer { dialogue, said, .. } = answer;
    Exchange {
        asked: (!ask.sends_row()).then(|| asked(dialogue)),
        output,
        original,
        parsed: ask.output.as_ref().and_then(|_| ask.form.read(&said.text).ok()),
        reasoning: Some(dialogue.reasoning.as_str()).filter(|it| !it.is_empty()),
        logprobs: dialogue.logprobs.as_ref().map(|it| it.to_value()),
        tool_calls: dialogue.tool_uses.iter().map(used).chain(said.tool_calls.iter().map(called)).collect(),
        usage: dialogue.usage.map(|it| {
            object([
                ("input_tokens", Some(Val::from(it.input))),
                ("output_tokens", Some(Val::from(it.output))),
                ("total_tokens", Some(Val::from(it.total()))),
                ("cached_tokens", Some(Val::from(it.cached))),
                ("cache_write_tokens", Some(Val::from(it.cache_write))),
                ("reasoning_tokens", Some(Val::from(it.reasoning))),
            ])
        }),
        cost_usd: dialogue.cost_usd,
        latency_ms: (!dialogue.was_batched).then_some(dialogue.latency.as_micros() as f64 / 1e3),
        finish_reason: Some(said.finish.name()),
    }
}

/// What was asked in words.
fn asked(dialogue: &Dialogue) -> probe::Asked<'_> {
    let last = dialogue.asked.iter().rev().find(|it| it.role() == "user");
    probe::Asked { input: last.map_or("", Message::text), messages: dialogue.asked.iter().map(message).collect() }
}

/// The answer of a program or a function: JSON as the value that it is, anything else as text.
fn value_of(answer: &str) -> Val<'_> {
    parse_json(answer).map_or_else(|_| Val::from(answer), |it| it.value)
}

fn object<'e, const N: usize>(members: [(&'static str, Option<Val<'e>>); N]) -> Val<'e> {
    Val::Map(members.into_iter().filter_map(|(key, it)| Some((key, it?))).collect())
}

/// What was sent. A message that calls tools says which, and one of a tool says what it answers.
fn message(message: &Message) -> Val<'_> {
    let (mut tool_calls, mut of_tool) = (None, None);
    match message {
        Message::System(_) | Message::User(_) | Message::Parts(_) => {}
        Message::Assistant { tool_calls: calls, .. } => {
            tool_calls = (!calls.is_empty()).then(|| calls.iter().map(called).collect());
        }
        Message::Tool { call_id, name, is_error, .. } => of_tool = Some((call_id.as_str(), name.as_str(), *is_error)),
    }
    object([
        ("role", Some(Val::from(message.role()))),
        ("content", Some(Val::from(message.text()))),
        ("tool_calls", tool_calls),
        ("tool_call_id", of_tool.map(|(id, ..)| Val::from(id))),
        ("name", of_tool.map(|(_, name, _)| Val::from(name))),
        ("is_error", of_tool.map(|(.., is_error)| Val::Bool(is_error))),
    ])
}

/// A tool that a model wants to call.
fn called(call: &ToolCall) -> Val<'_> {
    object([
        ("id", Some(Val::from(call.id.as_str()))),
        ("name", Some(Val::from(call.name.as_str()))),
        ("arguments", Some(call.arguments.borrowed())),
    ])
}

/// A tool that was called, by the name that its server has for it.
fn used(tool_use: &ToolUse) -> Val<'_> {
    object([
        ("id", Some(Val::from(tool_use.id.as_str()))),
        ("name", Some(Val::from(tool_use.tool.as_str()))),
        ("arguments", Some(tool_use.arguments.borrowed())),
        ("server", tool_use.server.as_deref().map(Val::from)),
        ("output", tool_use.output.as_deref().map(Val::from)),
        ("is_error", Some(Val::Bool(tool_use.is_error))),
    ])
}
