//! What a case of a campaign says to its agent: messages that stand in it or in files, as a system message and turns.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Node, Span};

use super::tree::{list, text};
use super::{Document, unused};

pub(super) static SOURCE: Keys = Keys {
    what: "`source`",
    keys: &[
        Key::required("path", Form::Text, "the file"),
        Key::optional("format", Form::Choice(&["yaml", "json"]), "what it is written in"),
    ],
};

pub(super) static MESSAGE: Keys = Keys {
    what: "a message",
    keys: &[
        Key::required("role", Form::Choice(&["system", "user", "assistant", "tool"]), "who says it"),
        Key::optional("content", Form::Text, "what"),
        Key::optional("name", Form::Text, "who, when roles are not enough"),
        Key::optional("source", Form::Object(&SOURCE), "the file that says what"),
    ],
};

/// What the agent is told: its system messages, and what is said in each turn. Messages before the first turn stand in front of it.
pub(super) fn told<'d>(
    reading: &mut Reading<'_>,
    input: &Fields<'_, 'd>,
    put: &mut impl FnMut(&'static str, Node<'d>),
) {
    let (messages, turns) = (said(reading, input, "messages"), said(reading, input, "turns"));
    let system: Vec<&str> = messages.iter().filter(|it| it.role == "system").map(|it| it.text.as_str()).collect();
    let at = input.key_span("messages").or_else(|| input.key_span("turns")).unwrap_or(input.span);
    if !system.is_empty() {
        put("system", text(at, &system.join("\n\n")));
    }
    let first: Vec<&Said> = messages.iter().filter(|it| it.role != "system").collect();
    let mut told: Vec<(Span, String)> = turns.into_iter().map(|it| (it.span, it.text)).collect();
    let opening = match first.as_slice() {
        [] => None,
        [only] => Some((only.span, only.text.clone())),
        several => {
            let parts = (1..).zip(several).map(|(nth, it): (u32, _)| format!("## {nth}. {}\n\n{}", it.role, it.text));
            let message = "several messages are told at once, as numbered parts of one";
            unused(reading, at, message, "put what is said one after the other into `turns`");
            Some((at, parts.collect::<Vec<_>>().join("\n\n")))
        }
    };
    if let Some((span, opening)) = opening {
        match told.first_mut() {
            Some((_, turn)) => *turn = format!("{opening}\n\n{turn}"),
            None => told.push((span, opening)),
        }
    }
    put("turns", list(at, told.iter().map(|(span, it)| text(*span, it)).collect()));
}

struct Said {
    role: String,
    text: String,
    span: Span,
}

fn said(reading: &mut Reading<'_>, input: &Fields<'_, '_>, key: &str) -> Vec<Said> {
    let items = input.given(key).map(|it| reading.list(&format!("`{key}`"), "a list of messages", it));
    let mut all = Vec::new();
    for item in items.unwrap_or_default() {
        let Some(fields) = Fields::read(reading, &MESSAGE, item) else { continue };
        let role = fields.get("role").and_then(|it| reading.text("`role`", it)).map(|it| it.value).unwrap_or_default();
        match (fields.given("content"), fields.given("source")) {
            (Some(node), None) => {
                let text = reading.text("`content`", node);
                all.extend(text.map(|it| Said { role, text: it.value, span: it.span }));
            }
            (None, Some(node)) => all.extend(from_file(reading, node, &role)),
            _ => {
                let problem = Problem::new(&codes::CONFLICT, "a message has either `content` or `source`");
                reading.problem(problem.at(item.span, "this message").help("keep one of them"));
            }
        }
    }
    all
}

/// Messages of a file: a text, a message, or a list of them.
fn from_file(reading: &mut Reading<'_>, node: &Node<'_>, role: &str) -> Vec<Said> {
    let Some(fields) = Fields::read(reading, &SOURCE, node) else { return Vec::new() };
    let Some(path) = fields.get("path").and_then(|it| reading.text("`path`", it)) else { return Vec::new() };
    let Some(document) = Document::open(reading, &path) else { return Vec::new() };
    let Some(tree) = document.tree(reading) else { return Vec::new() };
    let mut all = Vec::new();
    let mut one = |node: &Node<'_>| {
        let (own, content) = match node.as_str() {
            Some(text) => (role.to_owned(), Some(text)),
            None => {
                let own = node.get("role").and_then(Node::as_str).unwrap_or(role);
                (own.to_owned(), node.get("content").and_then(Node::as_str))
            }
        };
        match content {
            Some(text) => all.push(Said { role: own, text: text.to_owned(), span: node.span }),
            None => reading.wrong_type("a message in a file", "text, or an object with `role` and `content`", node),
        }
    };
    match tree.as_list() {
        Some(items) => items.iter().for_each(&mut one),
        None => one(&tree),
    }
    all
}
