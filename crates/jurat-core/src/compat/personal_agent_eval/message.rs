//! What a case of a campaign says to its agent: messages that stand in it or in files, as a system message and turns.

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree, Unused};
use jurat_format::value::{Node, Span, Spanned};

use super::case::{MESSAGES, TURNS};
use super::tree::{list, text};
use super::{Document, unused};

const PATH: Field<Spanned<String>> = Field::required("path", shape::TEXT, "the file");
const FORMAT: Field<Unused> = Field::optional("format", shape::unused(Form::Choice(&["yaml", "json"])), "the language");

static SOURCE_FILE: Object = Object { what: "`source`", keys: &[PATH.key, FORMAT.key] };

const ROLE: Field<Spanned<String>> = Field::required(
    "role",
    Shape::new(Form::Choice(&["system", "user", "assistant", "tool"]), shape::TEXT.read),
    "who says it",
);
const CONTENT: Field<Spanned<String>> = Field::optional("content", shape::TEXT, "what").or_null();
const NAME: Field<Unused> = Field::optional("name", shape::unused(Form::Text), "who, when roles are not enough");
const SOURCE: Field<Tree> =
    Field::optional("source", shape::tree(Form::Object(&SOURCE_FILE)), "the file that says what").or_null();

static MESSAGE: Object = Object { what: "a message", keys: &[ROLE.key, CONTENT.key, NAME.key, SOURCE.key] };

/// The input of the agent: its system messages, and what is said in each turn. Messages before the first turn stand in front of it.
pub(super) fn turn_messages<'d>(
    reading: &mut Reading<'_>,
    input: &Fields<'_, 'd>,
    put: &mut impl FnMut(&'static str, Node<'d>),
) {
    let (messages, turns) = (said(reading, input, &MESSAGES), said(reading, input, &TURNS));
    let system: Vec<&str> = messages.iter().filter(|it| it.role == "system").map(|it| it.text.as_str()).collect();
    let at = input.key_span(&MESSAGES).or_else(|| input.key_span(&TURNS)).unwrap_or(input.span);
    if !system.is_empty() {
        put("system", text(at, &system.join("\n\n")));
    }
    let first: Vec<&Said> = messages.iter().filter(|it| it.role != "system").collect();
    let mut said_in_turns: Vec<(Span, String)> = turns.into_iter().map(|it| (it.span, it.text)).collect();
    let opening = match first.as_slice() {
        [] => None,
        [only] => Some((only.span, only.text.clone())),
        several => {
            let parts = (1..).zip(several).map(|(nth, it): (u32, _)| format!("## {nth}. {}\n\n{}", it.role, it.text));
            let message = "several messages are sent at once, as numbered parts of one";
            unused(reading, at, message, "write consecutive messages as `turns`");
            Some((at, parts.collect::<Vec<_>>().join("\n\n")))
        }
    };
    if let Some((span, opening)) = opening {
        match said_in_turns.first_mut() {
            Some((_, turn)) => *turn = format!("{opening}\n\n{turn}"),
            None => said_in_turns.push((span, opening)),
        }
    }
    put("turns", list(at, said_in_turns.iter().map(|(span, it)| text(*span, it)).collect()));
}

struct Said {
    role: String,
    text: String,
    span: Span,
}

fn said(reading: &mut Reading<'_>, input: &Fields<'_, '_>, key: &Field<Tree>) -> Vec<Said> {
    let items = input.node(key).map(|it| reading.list(&key.quoted(), "a list of messages", it));
    let mut all = Vec::new();
    for item in items.unwrap_or_default() {
        let Some(fields) = MESSAGE.fields(reading, item) else { continue };
        let role = fields.read(reading, &ROLE).map(|it| it.value).unwrap_or_default();
        match (fields.node(&CONTENT), fields.node(&SOURCE)) {
            (Some(_), None) => {
                let text = fields.read(reading, &CONTENT);
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
    let Some(fields) = SOURCE_FILE.fields(reading, node) else { return Vec::new() };
    let Some(path) = fields.read(reading, &PATH) else { return Vec::new() };
    let Some(document) = Document::open(reading, &path) else { return Vec::new() };
    let Some(tree) = document.tree(reading) else { return Vec::new() };
    let mut all = Vec::new();
    let mut one = |node: &Node<'_>| {
        let (own, content) = match node.as_str() {
            Some(text) => (role.to_owned(), Some(text)),
            None => {
                let own = node.get(ROLE.key.name).and_then(Node::as_str).unwrap_or(role);
                (own.to_owned(), node.get(CONTENT.key.name).and_then(Node::as_str))
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
