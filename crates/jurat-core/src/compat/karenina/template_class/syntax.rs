//! The small part of Python that says what a template is: classes, annotated fields, literals, calls with arguments.
//!
//! Everything else is a fault with its line. Nothing is looked up and nothing is evaluated.

use jurat_format::value::{Map, Val, Value};

use super::words::{Token, words};

/// Why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) reason: String,
}

impl Fault {
    pub(super) fn new(line: usize, reason: impl Into<String>) -> Fault {
        Fault { line, reason: reason.into() }
    }
}

#[derive(Debug)]
pub(super) struct Class {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) body: Vec<Statement>,
}

#[derive(Debug)]
pub(super) enum Statement {
    /// `name: kind = value`
    Field {
        line: usize,
        name: String,
        kind: Expr,
        value: Expr,
    },
    /// `name = value`
    Assignment {
        line: usize,
        name: String,
        value: Expr,
    },
    Class(Class),
}

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) line: usize,
    pub(super) made: Made,
}

#[derive(Debug)]
pub(super) enum Made {
    Literal(Value),
    List(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Name(String),
    Call {
        name: String,
        arguments: Vec<(Option<String>, Expr)>,
    },
    Subscript {
        name: String,
        of: Vec<Expr>,
    },
    /// `left | right`
    Either(Box<Expr>, Box<Expr>),
}

/// A call, looked at.
pub(super) struct Call<'e> {
    pub(super) name: &'e str,
    line: usize,
    arguments: &'e [(Option<String>, Expr)],
}

impl Expr {
    /// The value, when it is written out.
    pub(super) fn value(&self) -> Result<Value, Fault> {
        match &self.made {
            Made::Literal(value) => Ok(value.clone()),
            Made::List(items) => items.iter().map(Expr::value).collect(),
            Made::Dict(members) => {
                let member = |(key, value): &(Expr, Expr)| Ok((key.text("a key")?, value.value()?));
                Ok(Val::Map(members.iter().map(member).collect::<Result<Map<'static>, Fault>>()?))
            }
            Made::Name(name) | Made::Call { name, .. } | Made::Subscript { name, .. } => {
                Err(Fault::new(self.line, format!("the value of `{name}` is known only by running the code")))
            }
            Made::Either(..) => Err(Fault::new(self.line, "a value that is known only by running it")),
        }
    }

    pub(super) fn text(&self, what: &str) -> Result<String, Fault> {
        match self.value()? {
            Val::Str(text) => Ok(text.into_owned()),
            _ => Err(Fault::new(self.line, format!("{what} is no text"))),
        }
    }

    pub(super) fn call(&self, what: &str) -> Result<Call<'_>, Fault> {
        match &self.made {
            Made::Call { name, arguments } => {
                // Names may be qualified; what they are called is what counts.
                let name = name.rsplit('.').next().unwrap_or(name);
                Ok(Call { name, line: self.line, arguments })
            }
            _ => Err(Fault::new(self.line, format!("{what} is made by a call, and this is none"))),
        }
    }
}

impl<'e> Call<'e> {
    /// The argument with this name, wherever it stands.
    pub(super) fn argument(&self, name: &str) -> Option<&'e Expr> {
        let by_name = self.arguments.iter().find(|(it, _)| it.as_deref() == Some(name));
        by_name.map(|(_, value)| value).or_else(|| {
            let place = self.order().iter().position(|it| *it == name)?;
            self.arguments.get(place).filter(|(it, _)| it.is_none()).map(|(_, value)| value)
        })
    }

    pub(super) fn required(&self, name: &str) -> Result<&'e Expr, Fault> {
        self.argument(name).ok_or_else(|| Fault::new(self.line, format!("`{}` has no `{name}`", self.name)))
    }

    /// Refuses unknown arguments.
    pub(super) fn only(&self, names: &[&str]) -> Result<(), Fault> {
        let unknown = self.named().find(|(it, _)| !names.contains(it));
        if let Some((name, value)) = unknown {
            return Err(Fault::new(value.line, format!("`{name}` of `{}` is not known here", self.name)));
        }
        if self.n_unnamed() > self.order().len() { self.named_only() } else { Ok(()) }
    }

    pub(super) fn named_only(&self) -> Result<(), Fault> {
        match self.n_unnamed() {
            0 => Ok(()),
            _ => Err(Fault::new(self.line, format!("`{}` has arguments without names", self.name))),
        }
    }

    pub(super) fn named(&self) -> impl Iterator<Item = (&'e str, &'e Expr)> {
        self.arguments.iter().filter_map(|(name, value)| Some((name.as_deref()?, value)))
    }

    fn n_unnamed(&self) -> usize {
        self.arguments.iter().filter(|(name, _)| name.is_none()).count()
    }

    /// What arguments without names are called.
    fn order(&self) -> &'static [&'static str] {
        if self.name == "VerifiedField" { &super::ARGUMENTS } else { &[] }
    }
}

/// How deep expressions and classes may be nested.
const MAX_DEPTH: usize = 64;

/// The classes of a text.
pub(super) fn parse(source: &str) -> Result<Vec<Class>, Fault> {
    let mut parser = Parser { tokens: words(source)?, at: 0, depth: 0 };
    let mut classes = Vec::new();
    while !parser.is_over() {
        if parser.takes(&Token::Newline) || parser.skips_docstring() {
            continue;
        }
        match parser.token() {
            Token::Name(word) if word == "import" || word == "from" => parser.skip_line(),
            Token::Name(word) if word == "class" => classes.push(parser.class()?),
            other => return Err(parser.fault(format!("{} is known only by running it", other.phrase()))),
        }
    }
    Ok(classes)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn token(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }

    fn is_over(&self) -> bool {
        *self.token() == Token::End
    }

    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::new(self.line(), reason)
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_it = self.token() == token;
        self.at += usize::from(is_it);
        is_it
    }

    fn expects(&mut self, token: &Token) -> Result<(), Fault> {
        if self.takes(token) {
            return Ok(());
        }
        Err(self.fault(format!("{} where {} was expected", self.token().phrase(), token.phrase())))
    }

    fn name(&mut self) -> Result<String, Fault> {
        match self.token().clone() {
            Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            other => Err(self.fault(format!("{} where a name was expected", other.phrase()))),
        }
    }

    fn skip_line(&mut self) {
        while !matches!(self.token(), Token::Newline | Token::End) {
            self.at += 1;
        }
    }

    /// A text that stands alone is for people.
    fn skips_docstring(&mut self) -> bool {
        let is_one = matches!(self.token(), Token::Text(_))
            && matches!(self.tokens.get(self.at + 1), Some((Token::Newline, _)) | None);
        self.at += if is_one { 2 } else { 0 };
        is_one
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Parser) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn class(&mut self) -> Result<Class, Fault> {
        let line = self.line();
        self.at += 1;
        let name = self.name()?;
        if self.takes(&Token::Mark('(')) {
            while !matches!(self.token(), Token::Mark(')') | Token::Newline | Token::End) {
                self.at += 1;
            }
            self.expects(&Token::Mark(')'))?;
        }
        self.expects(&Token::Mark(':'))?;
        self.expects(&Token::Newline)?;
        self.expects(&Token::Indent)?;
        let body = self.deeper(Parser::body)?;
        Ok(Class { line, name, body })
    }

    fn body(&mut self) -> Result<Vec<Statement>, Fault> {
        let mut body = Vec::new();
        while !self.takes(&Token::Dedent) {
            if self.takes(&Token::Newline) || self.skips_docstring() {
                continue;
            }
            let line = self.line();
            match self.token().clone() {
                Token::End => return Ok(body),
                Token::Name(word) if word == "pass" => self.at += 1,
                Token::Name(word) if word == "class" => body.push(Statement::Class(self.class()?)),
                Token::Name(word) if word == "def" || word == "async" => {
                    return Err(self.fault("what a method does is known only by running it"));
                }
                Token::Name(name) => {
                    self.at += 1;
                    let kind = if self.takes(&Token::Mark(':')) { Some(self.expr()?) } else { None };
                    if !self.takes(&Token::Mark('=')) {
                        return Err(Fault::new(line, format!("`{name}` has no value that can be read")));
                    }
                    let value = self.expr()?;
                    if !matches!(self.token(), Token::Newline | Token::End | Token::Dedent) {
                        return Err(self.fault(format!("{} is known only by running it", self.token().phrase())));
                    }
                    body.push(match kind {
                        Some(kind) => Statement::Field { line, name, kind, value },
                        None => Statement::Assignment { line, name, value },
                    });
                }
                other => return Err(self.fault(format!("{} is known only by running it", other.phrase()))),
            }
        }
        Ok(body)
    }

    /// One operand, or several with `|` between them.
    fn expr(&mut self) -> Result<Expr, Fault> {
        self.deeper(|it| {
            let mut left = it.operand()?;
            while it.takes(&Token::Mark('|')) {
                let right = it.operand()?;
                left = Expr { line: left.line, made: Made::Either(Box::new(left), Box::new(right)) };
            }
            Ok(left)
        })
    }

    fn operand(&mut self) -> Result<Expr, Fault> {
        let line = self.line();
        let made = match self.token().clone() {
            Token::Text(mut text) => {
                self.at += 1;
                while let Token::Text(more) = self.token().clone() {
                    text += &more;
                    self.at += 1;
                }
                Made::Literal(Val::from(text))
            }
            Token::Number(number) => {
                self.at += 1;
                Made::Literal(number)
            }
            Token::Mark('-') => {
                self.at += 1;
                let Token::Number(number) = self.token().clone() else {
                    return Err(self.fault(format!("{} behind a minus", self.token().phrase())));
                };
                self.at += 1;
                Made::Literal(match number {
                    Val::I(number) => Val::I(-number),
                    Val::F(number) => Val::F(-number),
                    other => return Err(self.fault(format!("-{other} is beyond what is read here"))),
                })
            }
            Token::Mark('[') => Made::List(self.items(']')?),
            Token::Mark('(') => {
                let start = self.at;
                let mut items = self.items(')')?;
                // `(x)` is x; `(x,)` is a tuple.
                let is_tuple = items.len() != 1
                    || matches!(self.tokens.get(self.at - 2), Some((Token::Mark(','), _)) if self.at - 2 > start);
                if is_tuple { Made::List(items) } else { return Ok(items.remove(0)) }
            }
            Token::Mark('{') => self.braces()?,
            Token::Name(_) => self.named()?,
            other => return Err(self.fault(format!("{} is known only by running it", other.phrase()))),
        };
        Ok(Expr { line, made })
    }

    /// What stands between brackets, the first of which is the next token.
    fn items(&mut self, closing: char) -> Result<Vec<Expr>, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.takes(&Token::Mark(closing)) {
            items.push(self.expr()?);
            if !self.takes(&Token::Mark(',')) {
                self.expects(&Token::Mark(closing))?;
                break;
            }
        }
        Ok(items)
    }

    /// A dictionary, or a set.
    fn braces(&mut self) -> Result<Made, Fault> {
        self.at += 1;
        let (mut members, mut items) = (Vec::new(), Vec::new());
        while !self.takes(&Token::Mark('}')) {
            let first = self.expr()?;
            if self.takes(&Token::Mark(':')) {
                members.push((first, self.expr()?));
            } else {
                items.push(first);
            }
            if !self.takes(&Token::Mark(',')) {
                self.expects(&Token::Mark('}'))?;
                break;
            }
        }
        match (members.is_empty(), items.is_empty()) {
            (_, true) => Ok(Made::Dict(members)),
            (true, false) => Ok(Made::List(items)),
            (false, false) => Err(self.fault("neither a set nor a dictionary")),
        }
    }

    /// A name, a call or something with an index.
    fn named(&mut self) -> Result<Made, Fault> {
        let mut name = self.name()?;
        match name.as_str() {
            "None" => return Ok(Made::Literal(Val::Null)),
            "True" => return Ok(Made::Literal(Val::Bool(true))),
            "False" => return Ok(Made::Literal(Val::Bool(false))),
            "lambda" | "not" | "await" | "yield" => {
                return Err(self.fault(format!("`{name}` is known only by running it")));
            }
            _ => {}
        }
        while self.takes(&Token::Mark('.')) {
            name = format!("{name}.{}", self.name()?);
        }
        match self.token() {
            Token::Mark('(') => Ok(Made::Call { name, arguments: self.arguments()? }),
            Token::Mark('[') => {
                let of = self.items(']')?;
                Ok(Made::Subscript { name: name.rsplit('.').next().unwrap_or_default().to_owned(), of })
            }
            _ => Ok(Made::Name(name.rsplit('.').next().unwrap_or_default().to_owned())),
        }
    }

    fn arguments(&mut self) -> Result<Vec<(Option<String>, Expr)>, Fault> {
        self.at += 1;
        let mut arguments: Vec<(Option<String>, Expr)> = Vec::new();
        while !self.takes(&Token::Mark(')')) {
            let is_named = matches!(self.tokens.get(self.at + 1), Some((Token::Mark('='), _)));
            let name = match self.token().clone() {
                Token::Name(name) if is_named => {
                    self.at += 2;
                    Some(name)
                }
                _ => None,
            };
            if name.is_some() && arguments.iter().any(|(it, _)| *it == name) {
                return Err(self.fault("an argument stands twice"));
            }
            if name.is_none() && arguments.iter().any(|(it, _)| it.is_some()) {
                return Err(self.fault("an argument without a name behind one with a name"));
            }
            arguments.push((name, self.expr()?));
            if !self.takes(&Token::Mark(',')) {
                self.expects(&Token::Mark(')'))?;
                break;
            }
        }
        Ok(arguments)
    }
}
