//! A server as it is opened: its definition with the variables filled in.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{HeaderName, HeaderValue, USER_AGENT};
use ::http::{HeaderMap, Uri};
use jurat_core::suite::{HttpTransport, OAuth, Reach, ServerSpec};
use jurat_format::value::Value;
use secrecy::SecretString;

use super::oauth::{Client, Tokens};
use crate::child::Launched;
use crate::model::filled;
use crate::provider::placeholders;
use crate::transport::Target;
use crate::transport::secret::Secrets;

/// The variables that every program gets, if they are there. Anything else may be a secret that is no business of the server.
const PASSED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// A server that can be opened.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) way: Way,
    /// The longest that one call may take.
    pub(super) timeout: Duration,
    pub(super) per_case: bool,
    /// Whether its resources are offered as tools.
    pub(super) resources: bool,
    secrets: Secrets,
}

/// How it is reached.
#[derive(Debug)]
pub(super) enum Way {
    Program(Launch),
    Http(Address),
    /// Over a stream of events, in the way of 2024-11-05.
    Sse(Address),
}

/// What is started. It is not shown: variables may be secrets.
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) folder: PathBuf,
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Launch {
    /// What is started, as the system looks for it. Of variables that are given twice the last counts.
    pub(super) fn launched(&self) -> Launched<'_> {
        let Launch { program, arguments, folder, variables } = self;
        let search = variables.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        Launched { program, arguments, folder, search }
    }

    /// Looks whether its program and its folder are there. The program is named as it was `written`.
    fn look(&self, written: &str) -> Result<(), String> {
        if !self.folder.as_os_str().is_empty() && !self.folder.is_dir() {
            return Err(format!("there is no folder `{}` to start it in", self.folder.display()));
        }
        self.launched().find().map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory if written.contains('/') => {
                format!("there is no program `{written}`")
            }
            ErrorKind::NotFound | ErrorKind::NotADirectory => format!("there is no program `{written}` in PATH"),
            _ => format!("`{written}` is not a program that may be started: {error}"),
        })
    }
}

/// Where requests go, and what they have besides.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) target: Target,
    /// The path, and what stands behind it.
    pub(super) path: String,
    /// Values that are secrets are marked so, and are not shown.
    pub(super) headers: HeaderMap,
    /// The tokens that it wants, which all its sessions share.
    pub(super) tokens: Option<Arc<Tokens>>,
}

/// Why a server cannot be opened, as far as that is known without opening it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolboxError {
    #[error("`{wanted}` of the server `{server}` needs `{variable}`: set it in the environment or in a file `.env`")]
    MissingVariable {
        server: String,
        /// The header or variable that needs it.
        wanted: String,
        variable: String,
    },
    /// A header would have a value that no header can have.
    #[error(
        "the header `{header}` of the server `{server}` cannot be sent: its variable holds characters that no header can have"
    )]
    Header { server: String, header: String },
    /// Its program is not there, or the folder that it starts in is not.
    #[error("the server `{server}` cannot be started: {why}")]
    NoProgram { server: String, why: String },
    /// Its address is none.
    #[error("the server `{server}` cannot be asked: `{url}` is no address")]
    Address { server: String, url: String },
}

impl Server {
    /// Fills in what the definition leaves to the environment. Nothing is started or asked.
    pub(super) fn prepare(spec: &ServerSpec, env: &dyn Fn(&str) -> Option<String>) -> Result<Server, ToolboxError> {
        let mut secrets = Secrets::default();
        let server = &spec.name.value;
        let way = match &spec.reach {
            Reach::Program { command, env: variables, cwd } => {
                let passed_on = PASSED_ON.iter().filter_map(|it| Some(((*it).into(), env(it)?.into())));
                let mut all: Vec<(OsString, OsString)> = passed_on.collect();
                for (name, template) in variables {
                    all.push((name.into(), fill(server, name, template, env, &mut secrets)?.0.into()));
                }
                let (program, arguments) =
                    command.split_first().map_or(("", &[][..]), |(it, rest)| (it.as_str(), rest));
                let folder = cwd.as_ref().map_or_else(|| spec.folder.clone(), |it| spec.folder.join(it));
                let launch = Launch {
                    program: located(program, &spec.folder),
                    arguments: arguments.to_vec(),
                    variables: all,
                    folder,
                };
                launch.look(program).map_err(|why| ToolboxError::NoProgram { server: server.clone(), why })?;
                Way::Program(launch)
            }
            Reach::Http { url, headers, transport, oauth } => {
                let tokens = oauth.as_ref().map(|it| tokens(server, url, it, env, &mut secrets)).transpose()?;
                let address = Address { tokens, ..address(server, url, headers, env, &mut secrets)? };
                match transport {
                    HttpTransport::Http => Way::Http(address),
                    HttpTransport::Sse => Way::Sse(address),
                }
            }
        };
        let ServerSpec { timeout, per_case, resources, .. } = *spec;
        Ok(Server { name: server.clone(), way, timeout, per_case, resources, secrets })
    }

    /// A message without its secrets.
    pub(super) fn scrubbed(&self, message: String) -> String {
        let message = self.secrets.scrubbed(message);
        match self.tokens() {
            Some(tokens) => tokens.scrubbed(message),
            None => message,
        }
    }

    /// What a tool returned, without its secrets.
    pub(super) fn scrub_value(&self, value: &mut Value) {
        self.secrets.scrub_value(value);
        self.tokens().into_iter().for_each(|it| it.scrub_value(value));
    }

    fn tokens(&self) -> Option<&Tokens> {
        match &self.way {
            Way::Program(_) => None,
            Way::Http(address) | Way::Sse(address) => address.tokens.as_deref(),
        }
    }
}

/// Where a server is asked, and with which headers.
fn address(
    server: &str,
    url: &str,
    headers: &[(String, String)],
    env: &dyn Fn(&str) -> Option<String>,
    secrets: &mut Secrets,
) -> Result<Address, ToolboxError> {
    let target = Target::read(url).ok_or_else(|| no_address(server, url))?;
    let path = url.parse::<Uri>().ok().and_then(|it| it.path_and_query().map(ToString::to_string));
    let mut all = HeaderMap::new();
    all.insert(USER_AGENT, HeaderValue::from_static(concat!("jurat/", env!("CARGO_PKG_VERSION"))));
    for (name, template) in headers {
        let refused = || ToolboxError::Header { server: server.to_owned(), header: name.clone() };
        let (text, is_secret) = fill(server, name, template, env, secrets)?;
        let mut value = HeaderValue::try_from(text).map_err(|_| refused())?;
        value.set_sensitive(is_secret);
        all.insert(HeaderName::try_from(name).map_err(|_| refused())?, value);
    }
    Ok(Address { target, path: path.unwrap_or_else(|| "/".to_owned()), headers: all, tokens: None })
}

fn no_address(server: &str, url: &str) -> ToolboxError {
    ToolboxError::Address { server: server.to_owned(), url: url.to_owned() }
}

/// What fetches the tokens of a server.
fn tokens(
    server: &str,
    url: &str,
    oauth: &OAuth,
    env: &dyn Fn(&str) -> Option<String>,
    secrets: &mut Secrets,
) -> Result<Arc<Tokens>, ToolboxError> {
    let mut filled = |wanted: &str, template: &str| fill(server, wanted, template, env, secrets).map(|(text, _)| text);
    let mut secret = |wanted: &str, template: &Option<String>| {
        template.as_ref().map(|it| filled(wanted, it).map(SecretString::from)).transpose()
    };
    let client_secret = secret("client_secret", &oauth.client_secret)?;
    let refresh_token = secret("refresh_token", &oauth.refresh_token)?;
    let id = filled("client_id", &oauth.client_id)?;
    let client = Client { id, secret: client_secret, refresh_token, scope: oauth.scope.clone() };
    let tokens = Tokens::new(client, url, oauth.token_url.as_deref());
    tokens.map(Arc::new).ok_or_else(|| no_address(server, oauth.token_url.as_deref().unwrap_or(url)))
}

/// A text with its variables filled in, all of which must be there, and whether there were any.
fn fill(
    server: &str,
    wanted: &str,
    template: &str,
    env: &dyn Fn(&str) -> Option<String>,
    secrets: &mut Secrets,
) -> Result<(String, bool), ToolboxError> {
    let is_there = |name: &str| env(name).is_some_and(|it| !it.is_empty());
    if let Some(variable) = placeholders(template).find(|it| !is_there(it)) {
        let (server, wanted, variable) = (server.to_owned(), wanted.to_owned(), variable.to_owned());
        return Err(ToolboxError::MissingVariable { server, wanted, variable });
    }
    Ok(filled(template, env, secrets))
}

/// A path is relative to the definition; a bare name is looked for as usual. Made absolute, because systems differ about what a relative one
/// means to a program that starts in another folder.
fn located(program: &str, folder: &Path) -> PathBuf {
    match std::path::absolute(folder.join(program)) {
        Ok(path) if program.contains('/') => path,
        _ => PathBuf::from(program),
    }
}
