//! The models that a suite configures: where each of them is, and whether it can be asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::effect::{Message, ModelRequest, Outcome};
use jurat_core::model::{ModelSettings, TokenPrice};
use jurat_format::value::Val;
use jurat_model::price::PriceSource;
use jurat_model::provider::{ResolvedModel, describe};
use jurat_model::{Asker, Model, Proxies, ResolveError, Transport, TransportOptions, Unmetered};
use jurat_store::Disk;

use crate::checked::environment;
use crate::{Checked, Error, RunOptions};

/// How long a model has to answer a [ping](Checked::ping).
const TIMEOUT: Duration = Duration::from_secs(60);

/// A model that a suite configures.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredModel {
    /// The role that it has.
    pub role: String,
    /// `provider/model`, as it was written.
    pub model: String,
    /// Where it is asked; nothing for scripts, programs and functions.
    pub address: Option<String>,
    /// What authenticates requests, in words; nothing when nothing does.
    pub key: Option<String>,
    /// How it is sent the schema of a reply; nothing where there is no choice.
    pub structured: Option<String>,
    /// What tokens cost: the suite's price, else that of its file of prices, else the list price. Unknown is absent, never 0.
    pub price: Option<TokenPrice>,
    /// Where the price comes from, in words.
    pub price_source: Option<String>,
    /// The day whose price it is, where that is known.
    pub price_date: Option<String>,
    /// The most output tokens of a reply.
    pub max_tokens: Option<u64>,
    /// The most requests a minute.
    pub rpm: Option<u64>,
    /// The most tokens a minute.
    pub tpm: Option<u64>,
    /// How long a request may take, where that is not the option of the run.
    pub timeout: Option<Duration>,
    /// Why it cannot be asked now.
    pub problem: Option<String>,
}

/// What became of asking a model one short question.
#[derive(Debug, Clone, PartialEq)]
pub enum Ping {
    /// It answered.
    Answered {
        /// How long it took.
        latency: Duration,
        /// Who answered, as the provider says.
        served: Option<String>,
    },
    /// It did not, for this reason.
    Failed(String),
    /// There is nothing to be reached: a script or a function, or an application that is asked about rows alone.
    Skipped,
}

/// A model as it was written.
struct Written<'w> {
    role: String,
    spec: &'w str,
    settings: ModelSettings,
    folder: PathBuf,
}

impl Checked {
    /// The models that the suite configures, and those that a run with these options is given in their place.
    ///
    /// ```
    /// use jurat::{Checked, Profiles, RunOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let file = directory.path().join("suite.yaml");
    /// # std::fs::write(&file, "suite: s\nmodels: { judge: llamacpp/m }\nrecords: [{a: 1}]\ntasks: [{id: one, judge: { prompt: '${a}' }}]")?;
    /// let checked = Checked::read(&file, &Profiles::default())?;
    /// let models = checked.models(&RunOptions::new())?;
    /// assert_eq!((models[0].role.as_str(), models[0].structured.as_deref()), ("judge", Some("json_schema")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn models(&self, options: &RunOptions) -> Result<Vec<ConfiguredModel>, Error> {
        let env = environment(&self.0, &options.directory, options)?;
        let env = |name: &str| env.get(name);
        Ok(self.written(options).iter().map(|it| configured(it, self.resolved(it, &env), &env)).collect())
    }

    /// Asks each of these models one short question, one after the other. What it answers is not looked at.
    pub fn ping(&self, options: &RunOptions) -> Result<Vec<(ConfiguredModel, Ping)>, Error> {
        let env = environment(&self.0, &options.directory, options)?;
        let env = |name: &str| env.get(name);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Usage(format!("nothing can be asked: {error}")))?;
        let proxies = Proxies::from_environment(&env);
        let transport = Transport::new(TransportOptions { request_timeout: TIMEOUT, proxies, ..Default::default() });
        let pinged = |it: &Written<'_>| {
            let resolved = self.resolved(it, &env);
            let ping = match resolved.clone() {
                Err(error) => Ping::Failed(error.to_string()),
                Ok(model) if is_local(&model) || needs_row(&it.settings) => Ping::Skipped,
                Ok(model) => match Model::open(model, &it.folder, &Disk, &env) {
                    Err(error) => Ping::Failed(error.to_string()),
                    Ok(model) => runtime.block_on(asked(&transport, &model, &it.role)),
                },
            };
            (configured(it, resolved, &env), ping)
        };
        Ok(self.written(options).iter().map(pinged).collect())
    }

    fn written<'w>(&'w self, options: &'w RunOptions) -> Vec<Written<'w>> {
        let given = |role: &str| options.models.iter().find(|(it, _)| it == role);
        let roles = self.0.suite.models.iter();
        let of_suite = roles.filter(|it| given(&it.name.value).is_none()).flat_map(|role| {
            role.models.iter().map(move |it| Written {
                role: role.name.value.clone(),
                spec: &it.model.value,
                settings: it.settings.clone(),
                folder: self.folder_of(it.model.span.source),
            })
        });
        let of_run = options.models.iter().map(|(role, spec)| Written {
            role: role.clone(),
            spec,
            settings: ModelSettings::default(),
            folder: options.directory.clone(),
        });
        of_suite.chain(of_run).collect()
    }

    fn folder_of(&self, source: jurat_format::value::SourceId) -> PathBuf {
        let path = self.0.sources.get(source).and_then(|it| it.path.parent());
        path.unwrap_or(Path::new("")).to_owned()
    }

    /// The endpoint of a model, which is asked for embeddings where the suite does so.
    fn resolved(&self, it: &Written<'_>, env: &dyn Fn(&str) -> Option<String>) -> Result<ResolvedModel, ResolveError> {
        let tasks = self.0.plan.iter().flat_map(|it| &it.tasks);
        let embeds = tasks.filter_map(|it| it.work.embedder()).any(|role| role == it.role);
        let model = describe(it.spec, &it.settings, env)?.with_prices(self.0.suite.prices.as_ref());
        if embeds { model.embedding() } else { Ok(model) }
    }
}

fn needs_row(settings: &ModelSettings) -> bool {
    settings.request.as_ref().is_some_and(|it| it.template.reads("row"))
}

fn is_local(model: &ResolvedModel) -> bool {
    !model.endpoint.address.starts_with("http")
}

fn configured(
    written: &Written<'_>,
    resolved: Result<ResolvedModel, ResolveError>,
    env: &dyn Fn(&str) -> Option<String>,
) -> ConfiguredModel {
    let mut configured = ConfiguredModel {
        role: written.role.clone(),
        model: written.spec.to_owned(),
        address: None,
        key: None,
        structured: None,
        price: None,
        price_source: None,
        price_date: None,
        max_tokens: None,
        rpm: written.settings.rpm,
        tpm: written.settings.tpm,
        timeout: written.settings.timeout,
        problem: None,
    };
    let model = match resolved {
        Ok(model) => model,
        Err(error) => return ConfiguredModel { problem: Some(error.to_string()), ..configured },
    };
    let setting = |name: &str| model.endpoint.setting(name);
    configured.problem = model.has_what_it_needs(env).err().map(|it| it.to_string());
    configured.max_tokens = match setting("max_tokens") {
        Some(Val::I(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    configured.price_source = model.price_source.as_ref().map(ToString::to_string);
    configured.price_date = model.price_source.as_ref().and_then(PriceSource::date).map(str::to_owned);
    configured.price = model.price.map(|it| TokenPrice {
        input: it.input,
        output: it.output,
        cached: it.cached,
        cache_write: it.cache_write,
    });
    if !is_local(&model) {
        let way = setting("structured").and_then(Val::as_str).unwrap_or("json_schema");
        configured.structured = (!model.embeds()).then(|| way.to_owned());
        configured.key = key(&model, env);
        configured.address = Some(model.endpoint.address);
    }
    configured
}

/// What authenticates requests to a model, in words.
fn key(model: &ResolvedModel, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_set = |name: &str| env(name).is_some_and(|it| !it.is_empty());
    if let Some(command) = &model.key_command {
        return Some(format!("printed by `{command}`"));
    }
    if let Some(variable) = &model.key_env {
        return Some(format!("{variable}, {}", if is_set(variable) { "set" } else { "not set" }));
    }
    model.is_signed().then(|| {
        let is_there = is_set("AWS_ACCESS_KEY_ID") && is_set("AWS_SECRET_ACCESS_KEY");
        format!("keys of an AWS account, {}", if is_there { "set" } else { "not set" })
    })
}

async fn asked(transport: &Transport, model: &Model, role: &str) -> Ping {
    let request = ModelRequest::new(role, vec![Message::User("Reply with the word ok.".to_owned())]);
    let asker = Asker { case: "ping", task: "", turn: None, priority: 0 };
    match transport.ask(model, asker, &request, 1, &Unmetered).await {
        Outcome::Answer(answer) => Ping::Answered { latency: answer.latency, served: answer.served.model },
        Outcome::Fault(fault) => Ping::Failed(fault.message),
        other => Ping::Failed(format!("{other:?}")),
    }
}

/// The built-in table of prices, in the form of a file that a suite names under `prices`.
///
/// ```
/// assert!(jurat::built_in_prices().contains("\"date\""));
/// ```
pub fn built_in_prices() -> &'static str {
    jurat_model::price::table()
}
