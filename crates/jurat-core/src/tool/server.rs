//! `tools`: servers whose tools a model may call.
//!
//! ```yaml
//! tools:
//!   time: { command: [uvx, mcp-server-time] }
//!   tickets: { url: "https://tickets.example/mcp", headers: { authorization: "Bearer ${TICKETS_TOKEN}" } }
//!   orders: { url: "https://orders.example/mcp", oauth: { client_id: jurat, client_secret: "${ORDERS_SECRET}" } }
//! ```
//!
//! Reading them starts nothing. `${NAME}` in a header or in `env` is a variable of the environment; what it holds is looked up when the server
//! is opened and never stands here.

use std::path::PathBuf;
use std::time::Duration;

use jurat_format::choices;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Content, Entry, Map, Node, Span, Spanned, Val, Value};
use jurat_format::{codes, duration, id};

use crate::section::lost::Part;
use crate::section::named::{Named, NamedSection};
use crate::section::{Heading, Section};

#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// What the suite calls it.
    pub name: Spanned<String>,
    pub reach: Reach,
    /// The folder of the file that defines it: paths are relative to it.
    pub folder: PathBuf,
    /// The longest that one call may take.
    pub timeout: Duration,
    /// Whether other runs may take over what its tools returned.
    pub reuse: bool,
    /// Whether each case has a server of its own, because calls change what later calls see.
    pub per_case: bool,
    /// Whether its resources are offered as tools.
    pub resources: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started, and talked to over its standard input and output.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables that it gets besides the usual few, with `${NAME}` where the environment supplies a part.
        env: Vec<(String, String)>,
        /// The folder that it starts in, as it was written; default: the folder of the definition.
        cwd: Option<String>,
    },
    /// A server that runs already, asked over HTTP.
    Http {
        url: String,
        transport: HttpTransport,
        /// What every request has besides, with `${NAME}` where the environment supplies a part.
        headers: Vec<(String, String)>,
        /// How tokens for it are had.
        oauth: Option<OAuth>,
    },
}

/// How tokens for a server are had, without a person: with a refresh token where there is one, else with the credentials of a client. Texts have `${NAME}` where
/// the environment supplies a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth {
    pub client_id: String,
    pub client_secret: Option<String>,
    pub refresh_token: Option<String>,
    pub scope: Option<String>,
    /// Where tokens are given; default: where the server says.
    pub token_url: Option<String>,
}

choices! {
    /// How a server is asked over HTTP.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum HttpTransport {
        /// Streamable HTTP: each message is a request, whose answer may be a stream.
        #[default]
        Http = "http",
        /// The way of 2024-11-05: one stream for all answers.
        Sse = "sse",
    }
}

/// What identifies a server in keys: everything that decides what its tools do, as it was written. Variables are there by their names only.
///
/// ```
/// use jurat_core::suite::{HttpTransport, Reach, ServerSpec, server_digest};
/// use jurat_format::value::{Span, Spanned};
/// use std::time::Duration;
///
/// let reach = Reach::Http {
///     url: "https://tickets.example/mcp".to_owned(),
///     transport: HttpTransport::Http,
///     headers: vec![("authorization".to_owned(), "Bearer ${TOKEN}".to_owned())],
///     oauth: None,
/// };
/// let name = Spanned::new("tickets".to_owned(), Span::default());
/// let timeout = Duration::from_secs(60);
/// let spec = ServerSpec { name, reach, folder: "".into(), timeout, reuse: true, per_case: false, resources: false };
/// assert_eq!(
///     server_digest(&spec).to_json(),
///     r#"{"url":"https://tickets.example/mcp","headers":{"authorization":"Bearer ${TOKEN}"}}"#
/// );
/// ```
pub fn server_digest(spec: &ServerSpec) -> Value {
    let mut members = written_reach(&spec.reach);
    // Keys of servers without them are older.
    if spec.resources {
        members.insert("resources".into(), Val::Bool(true));
    }
    Val::Map(members)
}

/// How a server is reached, as it is written.
fn written_reach(reach: &Reach) -> Map<'static> {
    let mut members: Map<'static> = Map::default();
    let pairs = |key: &'static str, pairs: &[(String, String)]| {
        let pairs: Map<'static> = pairs.iter().map(|(name, value)| (name.clone(), Val::from(value.clone()))).collect();
        (!pairs.is_empty()).then_some((key, Val::Map(pairs)))
    };
    let further = match reach {
        Reach::Program { command, env, cwd } => {
            members.insert("command".into(), command.iter().map(|it| Val::from(it.clone())).collect());
            [pairs("env", env), cwd.as_ref().map(|it| ("cwd", Val::from(it.clone()))), None]
        }
        Reach::Http { url, headers, transport, oauth } => {
            members.insert("url".into(), Val::from(url.clone()));
            let other = Some(transport).filter(|it| **it != HttpTransport::default());
            let oauth = oauth.as_ref().map(|it| ("oauth", identity(it)));
            [pairs("headers", headers), other.map(|it| ("transport", Val::from(it.name()))), oauth]
        }
    };
    for (key, value) in further.into_iter().flatten() {
        members.insert(key.into(), value);
    }
    members
}

/// Who asks a server, as far as that decides what it answers. Secrets are no part of it.
fn identity(oauth: &OAuth) -> Value {
    let OAuth { client_id, client_secret: _, refresh_token, scope, token_url } = oauth;
    let grant = if refresh_token.is_some() { "refresh_token" } else { "client_credentials" };
    let members = [
        ("grant", Some(grant)),
        ("client_id", Some(client_id.as_str())),
        ("scope", scope.as_deref()),
        ("token_url", token_url.as_deref()),
    ];
    let members = members.into_iter().filter_map(|(key, it)| Some((key, Val::from(it?.to_owned()))));
    Val::Map(members.collect::<Map<'static>>())
}

/// Headers that the connection or the protocol sets.
const OUR_HEADERS: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// The shortest and the longest time that a call may be given.
const TIMES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(86_400));

const VARIABLE: Field<Spanned<String>> =
    Field::required("from_env", shape::TEXT, "the environment variable that holds the value");

static FROM_ENV: Object = Object { what: "a variable", keys: &[VARIABLE.key] };

const COMMAND: Field<Tree> = Field::optional(
    "command",
    shape::tree(Form::Either(&[Form::List(&Form::Text), Form::Text])),
    "the program to start, with its arguments; a text is the program alone",
);
const ARGS: Field<Vec<Spanned<String>>> = Field::optional("args", shape::TEXTS, "further arguments of the program");
const ENV: Field<Vec<(String, String)>> = Field::optional(
    "env",
    Shape::new(const { Form::Map(&Form::Either(&[Form::Text, Form::Object(&FROM_ENV)])) }, variables),
    "environment variables of the program; `${NAME}` in a value is replaced from jurat's environment",
);
const CWD: Field<String> = Field::optional("cwd", shape::STRING, "the working directory of the program")
    .default_words("the directory of this file");
const URL: Field<Spanned<String>> =
    Field::optional("url", shape::TEXT, "the address of a server that is already running; not together with `command`");
const TRANSPORT: Defaulted<HttpTransport> = Field::optional(
    "transport",
    shape::choice(),
    "how a server with `url` is asked: `http` is streamable HTTP, `sse` the stream of events that it replaced in 2025",
)
.default_choice("http");
const HEADERS: Field<Vec<(String, String)>> = Field::optional(
    "headers",
    Shape::new(Form::Map(&Form::Text), headers),
    "further headers of each request; `${NAME}` is replaced from jurat's environment",
);
const CLIENT_ID: Field<Spanned<String>> =
    Field::required("client_id", shape::TEXT, "the id of the client; `${NAME}` is replaced from jurat's environment");
const CLIENT_SECRET: Field<Spanned<String>> =
    Field::optional("client_secret", shape::TEXT, "the secret of the client, from the environment: `${NAME}`");
const REFRESH_TOKEN: Field<Spanned<String>> = Field::optional(
    "refresh_token",
    shape::TEXT,
    "a refresh token, from the environment: `${NAME}`; without it the client itself gets the token",
);
const SCOPE: Field<String> =
    Field::optional("scope", shape::STRING, "what the token is to allow, with a space between several");
const TOKEN_URL: Field<Spanned<String>> =
    Field::optional("token_url", shape::TEXT, "the address where tokens are given")
        .default_words("where the server says");

static OAUTH_KEYS: Object =
    Object { what: "`oauth`", keys: &[CLIENT_ID.key, CLIENT_SECRET.key, REFRESH_TOKEN.key, SCOPE.key, TOKEN_URL.key] };

const OAUTH: Field<OAuth> = Field::optional(
    "oauth",
    Shape::new(Form::Object(&OAUTH_KEYS), oauth),
    "how jurat gets the token that a server with `url` wants, without a person",
);
const TIMEOUT: Defaulted<Duration> = Field::optional(
    "timeout",
    Shape::new(duration::FORM, timeout),
    "timeout of one call: `30s`, or a number of seconds",
)
.default_seconds(60);
const REUSE: Defaulted<bool> =
    Field::optional("reuse", shape::BOOLEAN, "whether results of its tools may be reused from the cache by other runs")
        .default(false);
const PER_CASE: Defaulted<bool> =
    Field::optional("per_case", shape::BOOLEAN, "whether each case gets a server process of its own").default(false);

const RESOURCES: Defaulted<bool> = Field::optional(
    "resources",
    shape::BOOLEAN,
    "whether its resources are offered as the tools `list_resources` and `read_resource`",
)
.default(false);

static SERVER: Object = Object {
    what: "a server",
    keys: &[
        COMMAND.key,
        ARGS.key,
        ENV.key,
        CWD.key,
        URL.key,
        TRANSPORT.key,
        HEADERS.key,
        OAUTH.key,
        TIMEOUT.key,
        REUSE.key,
        PER_CASE.key,
        RESOURCES.key,
    ],
};

pub(crate) const FORM: Form = Form::Map(&Form::Object(&SERVER));

pub(crate) const SECTION: Section<Vec<ServerSpec>> =
    Heading::new("tools", FORM, "tool servers (MCP) that models may call", &[Part::Server])
        .read(|reading, lost, known, at| BY_NAME.read(reading, (lost, known), ("tools", at.node), read));

const BY_NAME: NamedSection = NamedSection {
    part: Part::Server,
    name: "a name in `tools`",
    what: "server",
    needs: "an object of names and servers",
};

impl Named for ServerSpec {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }
}

pub(crate) fn read(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>) -> Option<ServerSpec> {
    let fields = SERVER.fields(reading, node)?;
    let timeout = fields.value(reading, &TIMEOUT);
    let reuse = fields.value(reading, &REUSE);
    let per_case = fields.value(reading, &PER_CASE);
    let resources = fields.value(reading, &RESOURCES);
    let reach = reach(reading, &name.value, &fields)?;
    Some(ServerSpec { folder: reading.beside(name.span, ""), name, reach, timeout, reuse, per_case, resources })
}

fn timeout(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Duration> {
    let timeout = duration::read(reading, what, node)?;
    if timeout < TIMES.0 || timeout > TIMES.1 {
        let message = format!("{what} must be from `1ms` to `1d`, not {}", node.phrase());
        reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(node.span, "out of range"));
        return None;
    }
    Some(timeout)
}

fn reach(reading: &mut Reading<'_>, name: &str, fields: &Fields<'_, '_>) -> Option<Reach> {
    match (fields.key_span(&COMMAND), fields.key_span(&URL)) {
        (Some(command), Some(url)) => {
            let message = format!("the server `{name}` has either `command` or `url`, not both");
            let problem = Problem::new(&codes::CONFLICT, message).at(url, "and this").at(command, "this");
            reading.problem(problem.help("`command` starts a program; `url` asks one that runs already"));
            None
        }
        (Some(_), None) => {
            unfit(reading, fields, &COMMAND.key, &[HEADERS.key, OAUTH.key, TRANSPORT.key]);
            program(reading, fields)
        }
        (None, Some(_)) => {
            unfit(reading, fields, &URL.key, &[ARGS.key, ENV.key, CWD.key]);
            http(reading, fields)
        }
        (None, None) => {
            if !fields.may_mean(&COMMAND) && !fields.may_mean(&URL) {
                let problem =
                    Problem::new(&codes::MISSING_KEY, format!("the server `{name}` needs `command` or `url`"));
                let problem = problem.at(fields.span, "cannot be reached");
                reading.problem(problem.help("for example `command: [uvx, mcp-server-time]`"));
            }
            None
        }
    }
}

/// Notes keys that say nothing about a server that is reached in this way.
fn unfit(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, way: &Key, keys: &[Key]) {
    for key in keys {
        if let Some(span) = fields.key_span(key) {
            let message = format!("`{}` means nothing to a server with `{}`", key.name, way.name);
            let way_span = fields.key_span(way).unwrap_or(span);
            let problem = Problem::new(&codes::CONFLICT, message).at(span, "this").at(way_span, "because of this");
            reading.problem(problem.help(match way.name == URL.key.name {
                true => "it is for servers that jurat starts; this one is already running",
                false => "it belongs to servers that are asked over HTTP; a program gets `env`",
            }));
        }
    }
}

fn program(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Reach> {
    let node = fields.node(&COMMAND)?;
    let args = fields.read(reading, &ARGS).unwrap_or_default();
    let env = fields.read(reading, &ENV).unwrap_or_default();
    let cwd = fields.read(reading, &CWD);
    let words = command(reading, node, args.is_empty())?;
    let command: Vec<String> = words.into_iter().chain(args).map(|it| it.value).collect();
    for word in &command {
        no_null(reading, "`command`", word, node.span)?;
    }
    Some(Reach::Program { command, env, cwd })
}

/// A program with its arguments, or the program alone.
fn command(reading: &mut Reading<'_>, node: &Node<'_>, is_alone: bool) -> Option<Vec<Spanned<String>>> {
    let words = match &node.content {
        Content::Scalar(Val::Str(_)) => reading.text("`command`", node).into_iter().collect(),
        Content::List(items) if !items.is_empty() => reading.texts("`command`", node),
        _ => {
            reading.wrong_type("`command`", "a list of a program and its arguments", node);
            return None;
        }
    };
    let is_text = node.as_str().is_some();
    let program = words.first()?;
    if program.value.trim().is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, "`command` names no program").at(program.span, "empty");
        reading.problem(problem.help("for example `command: [uvx, mcp-server-time]`"));
        return None;
    }
    // Nothing splits it, so a whole command line would be looked for as one program.
    if is_text && is_alone && program.value.contains(char::is_whitespace) {
        let message = format!("`command` is one program, and `{}` looks like several words", program.value);
        let list: Vec<&str> = program.value.split_whitespace().collect();
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(program.span, "one program");
        reading.problem(problem.help(format!("write a list: `command: [{}]`", list.join(", "))));
        return None;
    }
    Some(words)
}

fn variables(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, String)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of variables and their values", node);
        return None;
    };
    Some(entries.iter().filter_map(|it| variable(reading, it)).collect())
}

fn variable(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<(String, String)> {
    let name = entry.key.clone().into_owned();
    if name.is_empty() || name.contains(['=', '\0']) {
        let message = format!("`{}` is no name of a variable", name.escape_default());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(entry.key_span, "no name");
        reading.problem(problem.help("names of variables have no `=`"));
        return None;
    }
    if entry.value.entries().is_some() {
        let fields = FROM_ENV.fields(reading, &entry.value)?;
        let from = fields.read(reading, &VARIABLE)?;
        if from.value.is_empty() || from.value.contains(['=', '\0', '}']) {
            let problem = Problem::new(&codes::WRONG_VALUE, "`from_env` names no variable").at(from.span, "no name");
            reading.problem(problem.help(format!("for example `from_env: {name}`")));
            return None;
        }
        return Some((name, format!("${{{}}}", from.value)));
    }
    let value = reading.text(&format!("`{name}`"), &entry.value)?;
    no_null(reading, &format!("`{name}`"), &value.value, value.span)?;
    Some((name, value.value))
}

/// No system passes a null character to a program.
fn no_null(reading: &mut Reading<'_>, what: &str, text: &str, span: Span) -> Option<()> {
    if !text.contains('\0') {
        return Some(());
    }
    let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} holds a null character")).at(span, "in here");
    reading.problem(problem.help("no system passes such a text to a program; leave it out"));
    None
}

fn http(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Reach> {
    let headers = fields.read(reading, &HEADERS).unwrap_or_default();
    let oauth = fields.read(reading, &OAUTH);
    let url = fields.read(reading, &URL)?;
    let transport = fields.value(reading, &TRANSPORT);
    if let Some(span) = fields.key_span(&OAUTH) {
        one_token(reading, fields, &headers, span);
        private(reading, "`url`", &url);
    }
    Some(Reach::Http { url: address(reading, "`url`", url)?, transport, headers, oauth })
}

fn oauth(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<OAuth> {
    let fields = OAUTH_KEYS.fields(reading, node)?;
    let client_id = fields.read(reading, &CLIENT_ID);
    let client_secret =
        fields.read(reading, &CLIENT_SECRET).and_then(|it| of_environment(reading, "client_secret", it));
    let refresh_token =
        fields.read(reading, &REFRESH_TOKEN).and_then(|it| of_environment(reading, "refresh_token", it));
    let scope = fields.read(reading, &SCOPE);
    let token_url = fields.read(reading, &TOKEN_URL);
    if fields.key_span(&CLIENT_SECRET).or(fields.key_span(&REFRESH_TOKEN)).is_none() {
        let message = "`oauth` needs `client_secret` or `refresh_token`";
        let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "gives no token");
        reading.problem(
            problem
                .help("for example `client_secret: \"${TICKETS_SECRET}\"`; a token that you have goes into `headers`"),
        );
    }
    let token_url = match token_url {
        Some(token_url) => {
            private(reading, "`token_url`", &token_url);
            Some(address(reading, "`token_url`", token_url)?)
        }
        None => None,
    };
    Some(OAuth { client_id: client_id?.value, client_secret, refresh_token, scope, token_url })
}

/// A secret is a variable: what stands in a definition is stored with every run.
fn of_environment(reading: &mut Reading<'_>, key: &str, text: Spanned<String>) -> Option<String> {
    if text.value.contains("${") {
        return Some(text.value);
    }
    let problem = Problem::new(&codes::WRONG_VALUE, format!("`{key}` must come from the environment"));
    let problem = problem.at(text.span, "stands in the definition");
    reading.problem(problem.help(format!("for example `{key}: \"${{TICKETS_SECRET}}\"`")));
    None
}

/// Two tokens for one request.
fn one_token(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, headers: &[(String, String)], oauth: Span) {
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        let message = "a server has either `oauth` or a header `authorization`, not both";
        let headers = fields.key_span(&HEADERS).unwrap_or(oauth);
        let problem = Problem::new(&codes::CONFLICT, message).at(oauth, "this").at(headers, "and this");
        reading.problem(problem.help("`oauth` gets a token; a token that you have goes into the header"));
    }
}

/// Tokens and secrets do not go over the network for all to read.
fn private(reading: &mut Reading<'_>, what: &str, url: &Spanned<String>) {
    let host = url.value.strip_prefix("http://").map(|it| it.split(['/', '?', '#']).next().unwrap_or_default());
    let name = |host: &str| host.rsplit_once(':').map_or(host, |(name, _)| name).to_owned();
    let is_here = |name: &str| {
        let is_number = name.starts_with("127.") && name.chars().all(|it| it.is_ascii_digit() || it == '.');
        name == "localhost" || name == "[::1]" || is_number
    };
    if host.is_some_and(|it| !is_here(it) && !is_here(&name(it))) {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must be `https` where `oauth` is"));
        reading.problem(problem.at(url.span, "anyone may listen").help("`http` is for servers on this machine"));
    }
}

fn address(reading: &mut Reading<'_>, what: &str, url: Spanned<String>) -> Option<String> {
    let text = url.value.as_str();
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = rest.map(|it| it.split(['/', '?', '#']).next().unwrap_or_default());
    let problem = match host {
        Some(host) if host.contains('@') => {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must not hold a password"))
                .at(url.span, "before the `@`");
            problem.help("send it as a header: `headers: { authorization: \"Basic ${NAME}\" }`")
        }
        Some(host)
            if !host.is_empty()
                && text.chars().all(|it| it.is_ascii_graphic() && !"\"<>\\^`{|}".contains(it))
                && !text.contains('#') =>
        {
            return Some(url.value);
        }
        _ => {
            let problem =
                Problem::new(&codes::WRONG_VALUE, format!("{what} must be an address")).at(url.span, "no address");
            problem.help("for example `https://tickets.example/mcp`")
        }
    };
    reading.problem(problem);
    None
}

fn headers(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, String)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of texts", node);
        return None;
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    for entry in entries {
        let Some((name, value)) = header(reading, entry) else { continue };
        if headers.iter().any(|(it, _)| id::same_id(it, &name)) {
            let problem = Problem::new(&codes::CONFLICT, format!("the header `{name}` is given twice"));
            let problem = problem.at(entry.key_span, "again here");
            reading.problem(problem.help("keep one of them; upper and lower case make no difference"));
            continue;
        }
        headers.push((name, value));
    }
    Some(headers)
}

fn header(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<(String, String)> {
    let name = entry.key.clone().into_owned();
    let is_token = |it: char| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it);
    let why = if name.is_empty() || !name.chars().all(is_token) {
        "is no name of a header"
    } else if OUR_HEADERS.iter().any(|it| it.eq_ignore_ascii_case(&name)) {
        "belongs to the connection"
    } else {
        let value = reading.text("a header", &entry.value)?;
        if value.value.chars().any(|it| it.is_control() && it != '\t') {
            let message = format!("the header `{name}` has a value that no header can have");
            let problem = Problem::new(&codes::WRONG_VALUE, message).at(value.span, "in here");
            reading.problem(problem.help("leave out line ends and other control characters"));
            return None;
        }
        return Some((name, value.value));
    };
    let problem = Problem::new(&codes::WRONG_VALUE, format!("`{}` {why}", name.escape_default()));
    reading.problem(problem.at(entry.key_span, "cannot be set").help("for example `authorization` or `x-api-key`"));
    None
}
