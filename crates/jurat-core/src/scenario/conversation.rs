//! What was said so far, and what the next turn is sent of it.
//!
//! The log holds every message with the name of who said it. A turn without a handover is given the whole conversation; a handover puts a transcript
//! into the question instead. The log notes the system message whenever it, or who answers, changes. A request carries the one that is in
//! force, once, before everything else: earlier ones were for earlier turns, and some providers have no place for them.

use jurat_format::value::{Map, Val, Value, python};

use super::Handover;
use crate::effect::{Message, Messages, ToolCall};

/// The name of who asks, in logs and transcripts.
pub const USER: &str = "__user__";

/// Between a transcript and a question.
const SEPARATOR: &str = "\n\n---\n\n";

/// A block of text longer than this stands in a file of its own when a transcript is put into files.
const MOST_INLINE: usize = 2000;

/// What was said so far.
#[derive(Debug, Clone, Default)]
pub struct Log {
    said: Vec<Said>,
    /// Who answered the last turn, under which system message.
    last: Option<(String, String)>,
    /// The same as a request has it. A turn takes it away, asks with it and gives it back, so that it is never copied; where it is gone, it is made again.
    conversation: Messages,
    /// How many messages stand before those that were said.
    n_head: usize,
    /// How many were said, those of systems aside.
    n_said: usize,
}

#[derive(Debug, Clone)]
struct Said {
    /// Who said it; `None` for the scenario's questions.
    agent: Option<String>,
    message: Message,
}

/// What is sent in a turn, besides the system message and the examples.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnInput {
    /// The question as it is sent.
    pub question: String,
    /// The messages before it; `None` for the whole conversation.
    pub prior: Option<Vec<Message>>,
    /// Files that have to be there when it is sent, by their paths below the directory that holds `.jurat`.
    pub files: Vec<(String, String)>,
}

impl Log {
    /// All messages so far, those of systems included.
    pub fn messages(&self) -> Vec<Message> {
        self.said.iter().map(|it| it.message.clone()).collect()
    }

    /// What the next turn is sent. Code that hands over is not called here: `returned` is what it gave.
    pub fn turn_input(
        &self,
        question: &str,
        handover: Option<&Handover>,
        returned: Option<Vec<Message>>,
        turn: u32,
    ) -> TurnInput {
        let input = |question, prior| TurnInput { question, prior, files: Vec::new() };
        match handover {
            None => input(question.to_owned(), None),
            Some(Handover::TranscriptPrepend) => {
                input(format!("{}{SEPARATOR}{question}", self.transcript()), Some(Vec::new()))
            }
            Some(Handover::TranscriptAppend) => {
                input(format!("{question}{SEPARATOR}{}", self.transcript()), Some(Vec::new()))
            }
            Some(Handover::TranscriptMaterialize) => self.in_files(question, turn),
            Some(Handover::Callable(_)) => input(question.to_owned(), Some(returned.unwrap_or_default())),
        }
    }

    /// The messages of a request: the system message that is in force, examples, what came before, the question.
    pub fn request_messages(&mut self, system: &str, examples: &[(String, String)], input: &TurnInput) -> Messages {
        let mut head = Vec::with_capacity(2 * examples.len() + 2);
        if !system.is_empty() {
            head.push(Message::System(system.to_owned()));
        }
        for (question, answer) in examples {
            head.push(Message::User(question.clone()));
            head.push(Message::assistant(answer.clone()));
        }
        let mut messages = match &input.prior {
            Some(prior) => {
                head.extend(prior.iter().filter(|it| is_said(it)).cloned());
                Messages::from(head)
            }
            None => {
                let mut messages = self.taken(Messages::default());
                let n_head = std::mem::replace(&mut self.n_head, head.len());
                messages.replace_first(n_head, head);
                messages
            }
        };
        messages.push(Message::User(input.question.clone()));
        messages
    }

    /// The conversation as it was before a turn. `asked` is what the turn asked with, when it asked with it.
    fn taken(&mut self, asked: Messages) -> Messages {
        let own = std::mem::take(&mut self.conversation);
        let n_before = self.n_head + self.n_said;
        let mut messages = if own.len() == n_before { own } else { asked };
        if messages.len() < n_before {
            self.n_head = 0;
            return self.said.iter().map(|it| &it.message).filter(|it| is_said(it)).cloned().collect();
        }
        messages.truncate(n_before);
        messages
    }

    /// Notes a turn: the system message if it is news, the question as it was sent, and everything that was said in return. `asked` are the messages of its
    /// request when they were the whole conversation.
    pub fn add(&mut self, agent: &str, system: &str, question: &str, trace: &[Message], asked: Messages) {
        let is_news = self.last.as_ref().is_none_or(|(last, prompt)| last != agent || prompt != system);
        let by = |message| Said { agent: Some(agent.to_owned()), message };
        if is_news && !system.is_empty() {
            self.said.push(by(Message::System(system.to_owned())));
        }
        let mut conversation = self.taken(asked);
        let n_before = conversation.len();
        conversation.push(Message::User(question.to_owned()));
        conversation.extend(trace.iter().filter(|it| is_said(it)).cloned());
        self.n_said += conversation.len() - n_before;
        self.conversation = conversation;
        self.said.push(Said { agent: None, message: Message::User(question.to_owned()) });
        self.said.extend(trace.iter().cloned().map(by));
        self.last = Some((agent.to_owned(), system.to_owned()));
    }

    /// The log as lines: who said it, as what, and the words.
    pub fn transcript(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for said in &self.said {
            for (kind, text) in blocks(&said.message) {
                let label = match &said.agent {
                    None => format!("[{USER}]"),
                    Some(agent) => format!("[{agent}:{}:{kind}]", said.message.role()),
                };
                lines.push(format!("{label} {text}"));
            }
        }
        lines.join("\n")
    }

    /// The log as a value, for code that hands over: a list of `{agent, role, content}`.
    pub fn to_value(&self) -> Value {
        let said = |it: &Said| {
            let agent = it.agent.as_deref().unwrap_or(USER);
            let members = [
                ("agent", Val::from(agent)),
                ("role", Val::from(it.message.role())),
                ("content", Val::from(it.message.text())),
            ];
            Val::Map(members.into_iter().collect::<Map<'_>>()).into_owned()
        };
        self.said.iter().map(said).collect()
    }

    /// The transcript in files, and a question that says where they are. Their directory is named by their content: the question is the same wherever and
    /// whenever it is asked, so that a recording can be replayed.
    fn in_files(&self, question: &str, turn: u32) -> TurnInput {
        let transcript = self.transcript();
        let digest = &blake3::hash(transcript.as_bytes()).to_hex()[..16];
        let folder = format!(".jurat/handover/{digest}/turn_{turn}");
        let mut files = Vec::new();
        let mut xml = String::from("# CONVERSATION\n<conversation>\n");
        let mut n_turns = 0;
        for said in &self.said {
            if said.agent.is_none() {
                if n_turns > 0 {
                    xml.push_str("</turn>\n");
                }
                n_turns += 1;
                xml.push_str(&format!("<turn number=\"{n_turns}\">\n"));
            }
            for (kind, text) in blocks(&said.message) {
                let element = match (&said.agent, &said.message, kind) {
                    (None, ..) => "user",
                    (_, Message::System(_), _) => "system_prompt",
                    (.., "tool_use") => "tool_call",
                    (.., "tool_result") => "tool_result",
                    _ => "assistant",
                };
                let by = said.agent.as_deref().map(|it| format!(" agent=\"{}\"", escaped(it))).unwrap_or_default();
                if text.chars().count() > MOST_INLINE {
                    let path = format!("{folder}/artifacts/{}.txt", files.len() + 1);
                    xml.push_str(&format!("<{element}{by} offloaded=\"true\">{path}</{element}>\n"));
                    files.push((path, text));
                } else {
                    xml.push_str(&format!("<{element}{by}>{}</{element}>\n", escaped(&text)));
                }
            }
        }
        xml.push_str(if n_turns > 0 { "</turn>\n</conversation>\n" } else { "</conversation>\n" });
        let path = format!("{folder}/traces/conversation.xml");
        let question = format!(
            "What was said before is in the file `{path}`: XML with a `turn` for each turn. Read all of it before you answer. Where an element \
             says `offloaded=\"true\"`, it holds the path of a file with the text.{SEPARATOR}{question}"
        );
        files.push((path, xml));
        TurnInput { question, prior: Some(Vec::new()), files }
    }
}

/// Whether a message belongs to the conversation: system messages are for their own turns.
fn is_said(message: &Message) -> bool {
    !matches!(message, Message::System(_))
}

/// The parts of a message: its kind, and its words.
fn blocks(message: &Message) -> Vec<(&'static str, String)> {
    match message {
        Message::System(text) | Message::User(text) => vec![("text", text.clone())],
        Message::Parts(parts) => vec![("text", parts.words().to_owned())],
        Message::Assistant { text, tool_calls, .. } => {
            let words = Some(("text", text.clone())).filter(|(_, it)| !it.is_empty() || tool_calls.is_empty());
            words.into_iter().chain(tool_calls.iter().map(|it| ("tool_use", called(it)))).collect()
        }
        Message::Tool { text, .. } => vec![("tool_result", text.clone())],
    }
}

/// `search(query='bcl-2', limit=3)`
fn called(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Val::Map(map) => {
            map.iter().map(|(name, value)| format!("{name}={}", python::repr(value))).collect::<Vec<_>>().join(", ")
        }
        other => python::repr(other),
    };
    format!("{}({arguments})", call.name)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Messages that code handed over: a list of `{role, content}`.
pub fn handed_over(value: &Val<'_>) -> Result<Vec<Message>, String> {
    let items = value.as_list().ok_or("code that hands over must return a list of messages")?;
    items
        .iter()
        .map(|item| {
            let text = item.get("content").and_then(Val::as_str).ok_or("a message needs `content`, a text")?.to_owned();
            match item.get("role").and_then(Val::as_str) {
                Some("system") => Ok(Message::System(text)),
                Some("user") => Ok(Message::User(text)),
                Some("assistant") => Ok(Message::assistant(text)),
                other => Err(format!("a message has `role` system, user or assistant, not {other:?}")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn: its system message, how many examples it has, whether it is handed over to, and whether its request is given back.
    type Turn = (&'static str, usize, bool, bool);

    /// Requests are made of what the last one had. They must be as if each were made anew.
    #[test]
    fn a_request_has_the_whole_conversation_whatever_came_before() {
        let turns: [&[Turn]; 5] = [
            &[("s", 0, false, true), ("s", 0, false, true), ("s", 0, false, true)],
            &[("s", 0, false, true), ("other", 0, false, true), ("", 0, false, true), ("s", 2, false, true)],
            &[("s", 1, false, true), ("s", 1, false, false), ("s", 1, false, true), ("", 0, false, true)],
            &[
                ("s", 1, false, true),
                ("s", 0, true, true),
                ("s", 1, false, true),
                ("s", 1, true, false),
                ("t", 0, false, true),
            ],
            &[("", 0, true, false), ("", 3, false, true), ("", 3, false, true)],
        ];
        for turns in turns {
            let mut log = Log::default();
            for (ix, (system, n_examples, is_handed_over, is_given_back)) in turns.iter().enumerate() {
                let examples: Vec<(String, String)> =
                    (0..*n_examples).map(|it| (format!("q{it}"), "a".to_owned())).collect();
                let handover = is_handed_over.then_some(&Handover::TranscriptPrepend);
                let input = log.turn_input(&format!("question {ix}"), handover, None, 1);
                let mut expected = vec![];
                expected.extend((!system.is_empty()).then(|| Message::System((*system).to_owned())));
                for (question, answer) in &examples {
                    expected.extend([Message::User(question.clone()), Message::assistant(answer.clone())]);
                }
                let prior = if *is_handed_over { Vec::new() } else { log.messages() };
                expected.extend(prior.into_iter().filter(|it| !matches!(it, Message::System(_))));
                expected.push(Message::User(input.question.clone()));
                let mut asked = log.request_messages(system, &examples, &input);
                assert_eq!(asked[..], expected[..], "turn {ix} of {turns:?}");
                let trace = [Message::assistant(format!("answer {ix}")), Message::assistant("more")];
                // Tools were called in between, and the last answer is not in the request.
                asked.push(trace[0].clone());
                let asked = if *is_given_back && !is_handed_over { asked } else { Messages::default() };
                log.add("agent", system, &input.question, &trace, asked);
            }
        }
    }
}
