//! What an application is sent: a request with placeholders, and how they are filled.

use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Object};
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Context, Entry, FieldPath, Map, Node, Span, Spanned, Val, Value};

use crate::prompt::{Hole, Prompt};

/// What the texts of a request may read.
pub const NAMES: [&str; 8] = ["prompt", "messages", "system", "row", "session", "output_schema", "model", "settings"];

choices! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Method {
        Post = "POST",
        Get = "GET",
        Put = "PUT",
        Patch = "PATCH",
    }
}

/// What an application is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestTemplate {
    pub method: Method,
    /// What comes after `base_url`.
    pub path: Option<Prompt>,
    pub query: Vec<(String, Template)>,
    pub body: Option<Template>,
    /// The fields of a form, in place of a body of JSON.
    pub form: Vec<(String, Template)>,
}

/// A value in which texts are filled.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    Literal(Value),
    /// `${path}` and nothing else: the value that is there.
    Hole(FieldPath),
    Text(Prompt),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

/// A request with everything filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct FilledRequest {
    pub method: Method,
    /// What comes after the address, with the query.
    pub path: String,
    pub body: FilledBody,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FilledBody {
    None,
    Json(Value),
    /// The fields of a form, encoded.
    Form(String),
    /// A text that is sent as it is.
    Text(String),
}

/// A placeholder of a request, where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateRead {
    pub path: FieldPath,
    pub span: Span,
    /// Whether a template says what happens without it.
    pub is_optional: bool,
}

/// A request as it is written, with the places of what it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestText {
    pub template: RequestTemplate,
    pub reads: Vec<TemplateRead>,
}

impl RequestTemplate {
    /// Whether some text of it reads a name.
    pub fn reads(&self, name: &str) -> bool {
        self.paths().iter().any(|it| it.root() == Some(name))
    }

    /// Whether some text of it reads a setting of the model.
    pub fn reads_setting(&self, name: &str) -> bool {
        let of_settings = |it: &&FieldPath| it.root() == Some("settings");
        self.paths().iter().filter(of_settings).any(|it| it.steps().len() == 1 || it.rest().root() == Some(name))
    }

    /// What it reads of a row: the paths after `row`.
    pub fn row_paths(&self) -> Vec<FieldPath> {
        self.paths().iter().filter(|it| it.root() == Some("row")).map(FieldPath::rest).collect()
    }

    fn paths(&self) -> Vec<FieldPath> {
        let mut paths = Vec::new();
        let mut note = |prompt: &Prompt| paths.extend(prompt.holes().iter().map(|it| it.path.clone()));
        self.path.iter().for_each(&mut note);
        let templates = self.query.iter().chain(&self.form).map(|(_, it)| it).chain(&self.body);
        templates.for_each(|it| it.paths(&mut paths));
        paths
    }

    /// The request with everything filled in, or in words what the context lacks.
    pub fn filled(&self, context: &Value) -> Result<FilledRequest, String> {
        let path = self.path.as_ref().map(|it| filled_path(it, context)).transpose()?.unwrap_or_default();
        let query = encoded(&self.query, context)?;
        let path = match (query.is_empty(), path.contains('?')) {
            (true, _) => path,
            (false, false) => format!("{path}?{query}"),
            (false, true) => format!("{path}&{query}"),
        };
        let body = match &self.body {
            _ if !self.form.is_empty() => FilledBody::Form(encoded(&self.form, context)?),
            None => FilledBody::None,
            Some(template) => match template.filled(context)? {
                None => FilledBody::None,
                Some(Val::Str(text)) => FilledBody::Text(text.into_owned()),
                Some(value) => FilledBody::Json(value),
            },
        };
        Ok(FilledRequest { method: self.method, path, body })
    }
}

impl Template {
    fn paths(&self, paths: &mut Vec<FieldPath>) {
        match self {
            Template::Literal(_) => {}
            Template::Hole(path) => paths.push(path.clone()),
            Template::Text(prompt) => paths.extend(prompt.holes().iter().map(|it| it.path.clone())),
            Template::List(items) => items.iter().for_each(|it| it.paths(paths)),
            Template::Object(members) => members.iter().for_each(|(_, it)| it.paths(paths)),
        }
    }

    /// The value with everything filled in; `None` for a session that there is none of yet, which is left out.
    fn filled(&self, context: &Value) -> Result<Option<Value>, String> {
        Ok(Some(match self {
            Template::Literal(value) => value.clone(),
            Template::Hole(path) if is_session(path) && context.get("session").is_none() => return Ok(None),
            Template::Hole(path) => {
                let found = path.find(context);
                found.map_err(|it| format!("the request needs `{path}`: {}", it.explain(path)))?.into_owned()
            }
            Template::Text(prompt) => Val::from(prompt.bound(Context::of(context))?),
            Template::List(items) => {
                let items: Vec<Option<Value>> = items.iter().map(|it| it.filled(context)).collect::<Result<_, _>>()?;
                Val::List(items.into_iter().flatten().collect())
            }
            Template::Object(members) => {
                let mut filled = Map::with_capacity(members.len());
                for (name, template) in members {
                    if let Some(value) = template.filled(context)? {
                        filled.insert(name.clone().into(), value);
                    }
                }
                Val::Map(filled)
            }
        }))
    }
}

fn is_session(path: &FieldPath) -> bool {
    path.root() == Some("session")
}

/// A path whose placeholders are filled with values that are one segment each.
fn filled_path(prompt: &Prompt, context: &Value) -> Result<String, String> {
    let (mut path, mut from) = (String::new(), 0);
    for hole in prompt.holes() {
        path.push_str(&prompt.text()[from..hole.range.start]);
        let found = hole.path.find(context);
        let value = found.map_err(|it| format!("the request needs `{}`: {}", hole.path, it.explain(&hole.path)))?;
        path.push_str(&percent_encoded(&plain(&value)));
        from = hole.range.end;
    }
    path.push_str(&prompt.text()[from..]);
    Ok(path)
}

/// Names and values as queries and forms have them.
fn encoded(fields: &[(String, Template)], context: &Value) -> Result<String, String> {
    let mut pairs = Vec::with_capacity(fields.len());
    for (name, template) in fields {
        if let Some(value) = template.filled(context)? {
            pairs.push(format!("{}={}", percent_encoded(name), percent_encoded(&plain(&value))));
        }
    }
    Ok(pairs.join("&"))
}

/// A text as it is, any other value as JSON.
pub fn plain(value: &Val<'_>) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

const METHOD: Field<Method> =
    Field::optional("method", shape::choice(), "the method of the request").printed_default(DefaultValue::Name("POST"));
const PATH: Field<Spanned<String>> = Field::optional(
    "path",
    shape::TEXT,
    "what comes after `base_url`; a value that fills a placeholder is one segment of it",
);
const QUERY: Field<Tree> = Field::optional("query", shape::tree(Form::Map(&Form::Any)), "the parameters of the query");
const BODY: Field<Tree> = Field::optional(
    "body",
    shape::tree(Form::Any),
    "the body: JSON in which texts are filled, or a text that is sent as it is",
);
const FORM: Field<Tree> =
    Field::optional("form", shape::tree(Form::Map(&Form::Any)), "the fields of a form that is sent in place of `body`");

pub(crate) static REQUEST_OBJECT: Object =
    Object { what: "the request of an application", keys: &[METHOD.key, PATH.key, QUERY.key, BODY.key, FORM.key] };

pub(crate) const REQUEST: Field<RequestText> = Field::optional(
    "request",
    Shape::new(Form::Object(&REQUEST_OBJECT), request),
    "what an application (`http/NAME`) is sent; `${prompt}`, `${messages}`, `${row.path}`, `${session}` and others are filled in",
);

fn request(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<RequestText> {
    let n_before = reading.n_errors();
    let fields = REQUEST_OBJECT.fields(reading, node)?;
    let mut templates = Templates { reading, reads: Vec::new() };
    let body = fields.node(&BODY).and_then(|it| templates.template(it));
    let query = fields.node(&QUERY).map(|it| templates.members("`query`", it)).unwrap_or_default();
    let form = fields.node(&FORM).map(|it| templates.members("`form`", it)).unwrap_or_default();
    let path = fields.read(templates.reading, &PATH).map(|it| templates.prompt(&it));
    let mut reads = templates.reads;
    reads.sort_by_key(|it| it.span.range().start);
    let method = fields.read(reading, &METHOD).unwrap_or(Method::Post);
    let conflict = |message: &str, key: &Field<Tree>| {
        let span = fields.key_span(key).unwrap_or(fields.span);
        Problem::new(&codes::CONFLICT, message.to_owned()).at(span, "here")
    };
    if fields.node(&BODY).is_some() && fields.node(&FORM).is_some() {
        reading.problem(conflict("`request` has either `body` or `form`, not both", &FORM));
    }
    if method == Method::Get && (fields.node(&BODY).is_some() || fields.node(&FORM).is_some()) {
        let key = if fields.node(&BODY).is_some() { &BODY } else { &FORM };
        reading.problem(conflict("a GET has no body", key).help("write the values under `query`, or another `method`"));
    }
    if let Some(problem) = not_a_path(path.as_ref(), &fields) {
        reading.problem(problem);
    }
    reads.iter().filter(|it| !is_known(&it.path)).for_each(|it| reading.problem(unknown_name(it)));
    let template = RequestTemplate { method, path, query, body, form };
    (reading.n_errors() == n_before).then_some(RequestText { template, reads })
}

fn not_a_path(path: Option<&Prompt>, fields: &Fields<'_, '_>) -> Option<Problem> {
    let path = path.filter(|it| !it.text().starts_with('/') || it.text().contains(['#', ' ']))?;
    let message = format!("`path` must begin with `/` and have no space and no `#`, not `{}`", path.text());
    Some(Problem::new(&codes::WRONG_VALUE, message).at(fields.node(&PATH)?.span, "here"))
}

fn is_known(path: &FieldPath) -> bool {
    path.root().is_some_and(|it| NAMES.contains(&it))
}

fn unknown_name(read: &TemplateRead) -> Problem {
    let message = format!("`request` reads `{}`, which an application is not sent", read.path);
    let problem = Problem::new(&codes::WRONG_VALUE, message).at(read.span, "read here");
    let known = format!("it may read {}; a value of the row is `${{row.path}}`", listed_all(NAMES));
    problem.help(known).did_you_mean(read.path.root().unwrap_or_default(), NAMES)
}

/// Texts with placeholders as they are read, and what they read.
struct Templates<'r, 'f> {
    reading: &'r mut Reading<'f>,
    reads: Vec<TemplateRead>,
}

impl Templates<'_, '_> {
    fn template(&mut self, node: &Node<'_>) -> Option<Template> {
        if let Some(text) = node.as_str() {
            let prompt = self.prompt(&Spanned::new(text.to_owned(), node.span));
            return Some(match prompt.holes() {
                [] => Template::Literal(Val::from(text.to_owned())),
                [hole] if hole.range == (0..text.len()) => Template::Hole(hole.path.clone()),
                _ => Template::Text(prompt),
            });
        }
        if let Some(items) = node.as_list() {
            return Some(Template::List(items.iter().filter_map(|it| self.template(it)).collect()));
        }
        match node.entries() {
            None => Some(Template::Literal(node.to_val().into_owned())),
            Some([entry]) if entry.key == "jinja" && entry.value.as_str().is_some() => self.jinja(&entry.value),
            Some(_) => Some(Template::Object(self.members("`body`", node))),
        }
    }

    fn members(&mut self, what: &str, node: &Node<'_>) -> Vec<(String, Template)> {
        let Some(entries) = node.entries() else {
            self.reading.wrong_type(what, "an object", node);
            return Vec::new();
        };
        let member = |it: &Entry<'_>| Some((it.key.to_string(), self.template(&it.value)?));
        entries.iter().filter_map(member).collect()
    }

    fn prompt(&mut self, text: &Spanned<String>) -> Prompt {
        let prompt = Prompt::parse(text.value.clone());
        let parts = prompt.holes().iter().map(|it| &prompt.text()[it.range.clone()]);
        let places = self.reading.places(text.span, parts);
        let read =
            |(hole, span): (&Hole, Span)| TemplateRead { path: hole.path.clone(), span, is_optional: hole.is_optional };
        self.reads.extend(prompt.holes().iter().zip(places).map(read));
        for literal in prompt.literals() {
            let shown = &prompt.text()[literal.clone()];
            let problem = Problem::new(&codes::LITERAL_PLACEHOLDER, format!("`{shown}` is sent unchanged"));
            self.reading
                .problem(problem.at(text.span, "not a path").help("a placeholder is `${name}` or `${name.path}`"));
        }
        prompt
    }

    fn jinja(&mut self, node: &Node<'_>) -> Option<Template> {
        let text = node.as_str()?;
        match Prompt::jinja(text.to_owned()) {
            Ok(prompt) => {
                let read =
                    |it: &Hole| TemplateRead { path: it.path.clone(), span: node.span, is_optional: it.is_optional };
                self.reads.extend(prompt.holes().iter().map(read));
                Some(Template::Text(prompt))
            }
            Err(flaw) => {
                let span = self.reading.part_of_text(node.span, text, flaw.range);
                let message = format!("the template cannot be rendered: {}", flaw.message);
                self.reading.problem(Problem::new(&codes::BAD_TEMPLATE, message).at(span, "here"));
                None
            }
        }
    }
}
