//! How a program is started for a turn.

use jurat_format::choices;
use jurat_format::value::{Map, Val, Value};

use super::Agent;

/// How a program is started for a turn. Paths are those that it sees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its variables, beside those of the place it runs in.
    pub env: Vec<(String, String)>,
    /// Files that it finds in its home.
    pub files: Vec<ConfigFile>,
    /// What it reads from standard input.
    pub stdin: String,
}

/// A file that a program finds in its home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where, relative to the home.
    pub path: String,
    pub text: String,
}

/// What is asked of an agent in a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnInput<'e> {
    pub agent: &'e Agent,
    /// Its program, as it is found where it runs.
    pub program: &'e str,
    pub places: &'e Places,
    /// Which turn it is, from 0.
    pub turn: usize,
    /// How many turns there will be.
    pub n_turns: usize,
    pub message: &'e str,
    /// Its system prompt.
    pub system: Option<&'e str>,
    /// What all turns of this run share: a UUID, or what the program called its session in the first turn.
    pub session: &'e str,
    /// The servers with tools that it may use.
    pub servers: &'e [ServerAt],
}

/// A server with tools, where the agent finds it: jurat answers there over streamable HTTP, and asks the server of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAt {
    pub name: String,
    pub url: String,
}

impl TurnInput<'_> {
    /// The message for programs that have no setting for a system prompt: that is put before the message of the first turn.
    pub(super) fn with_system(&self) -> String {
        match self.system.filter(|_| self.turn == 0) {
            Some(system) => format!("{system}\n\n{}", self.message),
            None => self.message.to_owned(),
        }
    }
}

impl TurnInput<'_> {
    /// The servers as programs configure them: an object by their names; `None` when there are none.
    pub(super) fn server_entries(&self, entry: impl Fn(Value) -> Value) -> Option<Value> {
        let entries = self.servers.iter().map(|it| (it.name.clone(), entry(Val::from(it.url.clone()))));
        (!self.servers.is_empty()).then(|| Val::Map(entries.collect::<Map<'static>>()))
    }
}

/// Where an agent works, as it sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub workspace: String,
    pub home: String,
    /// Where it puts what need not stay.
    pub tmp: String,
}

impl Places {
    /// A path below the home.
    pub fn at_home(&self, path: &str) -> String {
        format!("{}/{path}", self.home)
    }
}

choices! {
    /// How models are asked over HTTP, by the name of the codec that speaks it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Wire {
        /// `POST /chat/completions`, as OpenAI has it.
        OpenAiChat = "openai_chat",
        /// `POST /responses`, as OpenAI has it.
        OpenAiResponses = "openai_responses",
        /// `POST /messages`, as Anthropic has it.
        Anthropic = "anthropic_messages",
        /// `POST …:generateContent`, as Gemini has it.
        Gemini = "gemini_generate",
    }
}

impl Wire {
    /// The provider whose models are asked so.
    pub fn provider(self) -> &'static str {
        match self {
            Wire::OpenAiChat => "openai",
            Wire::OpenAiResponses => "openai-responses",
            Wire::Anthropic => "anthropic",
            Wire::Gemini => "gemini",
        }
    }
}

/// The model of an agent, where the agent finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAt {
    pub wire: Wire,
    /// The address, without what comes after the port.
    pub base_url: String,
    /// What it is called there.
    pub model: String,
    /// What stands for the key, which the agent never sees.
    pub key: String,
    /// Dollars for a million tokens read and written.
    pub price: Option<(f64, f64)>,
    /// How many tokens one answer may have.
    pub max_tokens: Option<u64>,
}

impl ModelAt {
    /// The address with a path behind it.
    pub(super) fn under(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// The model as two of the programs describe it: an entry of a list of models. Prices are for a million tokens.
    pub(super) fn entry(&self) -> Value {
        let (input, output) = self.price.unwrap_or_default();
        let cost = object([
            ("input", Val::F(input)),
            ("output", Val::F(output)),
            ("cacheRead", Val::F(input)),
            ("cacheWrite", Val::F(input)),
        ]);
        object([
            ("id", Val::from(self.model.clone())),
            ("name", Val::from(self.model.clone())),
            ("reasoning", Val::Bool(false)),
            ("input", [Val::from("text")].into_iter().collect()),
            ("cost", cost),
            ("contextWindow", Val::from(CONTEXT_WINDOW)),
            ("maxTokens", Val::from(self.max_tokens.unwrap_or(MAX_TOKENS))),
        ])
    }
}

/// How much the programs that want to know think that the model can read.
const CONTEXT_WINDOW: u64 = 200_000;

/// How much the programs that want to know let the model write, unless its settings say.
const MAX_TOKENS: u64 = 16_384;

impl Launch {
    /// Of the agent's program, with the arguments that its author adds.
    pub(super) fn of(input: &TurnInput<'_>) -> Launch {
        Launch { argv: vec![input.program.to_owned()], ..Launch::default() }
    }

    pub(super) fn args<'a>(&mut self, args: impl IntoIterator<Item = &'a str>) {
        self.argv.extend(args.into_iter().map(str::to_owned));
    }

    pub(super) fn env(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// A file in the home. Those of the first turn are still there in later ones.
    pub(super) fn home_file(&mut self, input: &TurnInput<'_>, path: &str, text: &str) {
        if input.turn == 0 {
            self.files.push(ConfigFile { path: path.to_owned(), text: text.to_owned() });
        }
    }

    /// With what the author adds: arguments behind all others, variables over all others.
    pub(super) fn finished(mut self, input: &TurnInput<'_>) -> Launch {
        self.argv.extend(input.agent.args.iter().cloned());
        for (name, value) in &input.agent.env {
            self.env.retain(|(known, _)| known != name);
            self.env.push((name.clone(), value.clone()));
        }
        self
    }
}

/// A text as TOML writes it.
pub(super) fn toml_text(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => {
                written.push('\\');
                written.push(char);
            }
            control if control.is_control() => written.push_str(&format!("\\u{:04X}", u32::from(control))),
            char => written.push(char),
        }
    }
    written.push('"');
    written
}

/// An object from its members.
pub(super) fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}

/// A moment given in milliseconds since 1970, as dates are written.
pub(super) fn moment(millis: u64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(i64::try_from(millis).ok()?).ok()?;
    Some(format!("{moment:.3}"))
}
