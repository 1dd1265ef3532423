//! What a function takes, found without running anything.
//!
//! Of Python this reads only as much Python as it takes to find functions on the top level: texts, comments, brackets, joined lines. Everything inside
//! of bodies is skipped. What goes wrong on the way is a syntax error of the whole text: a bracket or a text that is never closed, a
//! parameter list that makes no sense. What is wrong inside of bodies shows when the code is compiled.

use std::collections::HashSet;
use std::ops::Range;

use super::Source;
use crate::python_tokens::{Kind, Token, TokenError, tokens};

/// What a function takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its parameters, in their order.
    pub parameters: Vec<Parameter>,
    /// Whether it takes any other argument too, by `**kwargs`.
    pub takes_others: bool,
    /// Whether it is `async`.
    pub is_async: bool,
    /// Where its name stands, in bytes.
    pub at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// Whether it has no default.
    pub is_required: bool,
    /// Where it stands, in bytes.
    pub at: Range<usize>,
}

impl Signature {
    /// The parameter with this name.
    pub fn find(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|it| it.name == name)
    }
}

/// Why a signature is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SignatureError {
    /// What kind of reason it is.
    pub kind: SignatureErrorKind,
    pub message: String,
    pub at: Range<usize>,
    /// The functions that there are.
    pub functions: Vec<String>,
}

/// Why a signature is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureErrorKind {
    /// The text is not Python.
    Syntax,
    /// There is no such function.
    NoFunction,
    /// The function cannot be called with arguments by name.
    NotCallable,
}

/// Reads TypeScript and JavaScript, which the core does not.
pub trait Scripts {
    /// What the entry function takes. `None` when only running the code would show it.
    fn signature(&self, source: &Source) -> Result<Option<Signature>, SignatureError>;
}

/// Scripts are not read: what their functions take shows when they run.
#[derive(Debug, Clone, Copy)]
pub struct Unread;

impl Scripts for Unread {
    fn signature(&self, _: &Source) -> Result<Option<Signature>, SignatureError> {
        Ok(None)
    }
}

/// The signature of a function on the top level. When it is defined twice, the last one counts, as in Python. `None` when the name is there, but
/// only running the code would show what it stands for.
pub fn python_signature(text: &str, entry: &str) -> Result<Option<Signature>, SignatureError> {
    let tokens = tokens(text)?;
    let mut found = None;
    let mut is_named = false;
    let mut functions = Vec::new();
    for line in tokens.split(|it| it.kind == Kind::LineEnd) {
        // Lines of blocks are indented; what they define may or may not be there.
        let Some(first) = line.first() else { continue };
        if first.column > 0 {
            is_named |= binds(text, line, entry);
            continue;
        }
        let (is_async, rest) = match first.text(text) {
            "async" => (true, &line[1..]),
            _ => (false, line),
        };
        let name = rest.get(1).filter(|it| it.kind == Kind::Word && rest[0].text(text) == "def");
        match name {
            Some(name) => {
                functions.push(name.text(text).to_owned());
                if name.text(text) == entry {
                    found = Some(signature(text, is_async, name, &rest[2..])?);
                }
            }
            None => is_named |= binds(text, line, entry),
        }
    }
    match found {
        Some(signature) => Ok(Some(signature)),
        None if is_named => Ok(None),
        None => Err(SignatureError {
            kind: SignatureErrorKind::NoFunction,
            message: format!("there is no function `{entry}` on the top level"),
            at: 0..text.find('\n').unwrap_or(text.len()),
            functions,
        }),
    }
}

/// Whether a line gives a name to something: imports it, assigns to it, defines it.
fn binds(text: &str, line: &[Token], name: &str) -> bool {
    let words: Vec<&str> = line.iter().map(|it| it.text(text)).collect();
    let is_import = matches!(words.first(), Some(&("from" | "import")));
    let is_assigned = |pair: &[&str]| pair[0] == name && matches!(pair[1], "=" | ":");
    let is_defined = |pair: &[&str]| matches!(pair[0], "def" | "class") && pair[1] == name;
    (is_import && words.contains(&name)) || words.windows(2).any(|it| is_assigned(it) || is_defined(it))
}

/// The parameters between the brackets behind a function's name.
fn signature(text: &str, is_async: bool, name: &Token, rest: &[Token]) -> Result<Signature, SignatureError> {
    let open = rest.iter().position(|it| it.text(text) == "(" && it.depth == 0);
    let close = rest.iter().position(|it| it.text(text) == ")" && it.depth == 0);
    // Behind the name there may be type parameters, and nothing else.
    let is_list = |open: usize| open == 0 || rest[0].text(text) == "[";
    let (Some(open), Some(close)) = (open.filter(|it| is_list(*it)), close) else {
        return Err(syntax("a function without a list of parameters", name.at.clone()));
    };
    let after = &rest[close + 1..];
    if !after.iter().any(|it| it.depth == 0 && it.text(text) == ":") {
        let last = after.last().unwrap_or(&rest[close]);
        return Err(syntax("a function without `:` behind its parameters", last.at.clone()));
    }
    let mut signature = Signature { parameters: Vec::new(), takes_others: false, is_async, at: name.at.clone() };
    let mut seen = HashSet::new();
    for item in items(text, &rest[open + 1..close]) {
        let Some(first) = item.first() else { continue };
        match (first.text(text), item.get(1)) {
            ("*", None) => {}
            ("/", None) if !signature.parameters.is_empty() => return Err(positional(&signature)),
            ("*", Some(_)) if item.get(1).is_some_and(|it| it.text(text) == "*") => signature.takes_others = true,
            ("*", Some(_)) => {}
            (word, _) if first.kind == Kind::Word => {
                if !seen.insert(word.to_owned()) {
                    return Err(syntax(format!("two parameters are called `{word}`"), first.at.clone()));
                }
                let has_default = item.iter().any(|it| it.depth == 1 && it.text(text) == "=");
                let name = word.to_owned();
                signature.parameters.push(Parameter { name, is_required: !has_default, at: first.at.clone() });
            }
            _ => return Err(syntax("not a parameter", first.at.clone())),
        }
    }
    Ok(signature)
}

/// The parts of a list between commas. The commas of a `lambda` are its own.
fn items<'t>(text: &str, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    let (mut items, mut start, mut n_lambdas) = (Vec::new(), 0, 0_usize);
    for (ix, token) in tokens.iter().enumerate().filter(|(_, it)| it.depth == 1) {
        match token.text(text) {
            "lambda" => n_lambdas += 1,
            ":" => n_lambdas = n_lambdas.saturating_sub(1),
            "," if n_lambdas == 0 => {
                items.push(&tokens[start..ix]);
                start = ix + 1;
            }
            _ => {}
        }
    }
    items.push(&tokens[start..]);
    items
}

fn positional(signature: &Signature) -> SignatureError {
    let at = signature.parameters.first().map_or(signature.at.clone(), |it| it.at.clone());
    SignatureError {
        kind: SignatureErrorKind::NotCallable,
        message: "arguments are given by name, and what stands before `/` cannot be".to_owned(),
        at,
        functions: Vec::new(),
    }
}

impl From<TokenError> for SignatureError {
    fn from(error: TokenError) -> SignatureError {
        syntax(error.message, error.at)
    }
}

fn syntax(message: impl Into<String>, at: Range<usize>) -> SignatureError {
    SignatureError { kind: SignatureErrorKind::Syntax, message: message.into(), at, functions: Vec::new() }
}
