//! The access of an agent to its model: a proxy, and what it recorded.

use std::sync::Arc;

use jurat_core::agent::{EndpointFault, Exchanges, Limit, ModelAt, Network, ServerAt, Wire};
use jurat_core::artifact::Tokens;
use jurat_core::effect::{FaultClass, Role};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Map, Val};
use jurat_model::Model;
use jurat_model::proxy::{
    Listen, Names, OnBehalf, OnSpent, Proxy, ProxyLimits, ProxyOptions, Record, Spent, TOOLS_PATH, ToolServers,
    Upstream, random_key,
};

use super::Halt;
use super::tools::ToolDesk;
use super::turns::{Task, blocking};

/// The port that a program finds its model at, on a loopback that is its own.
pub(super) const PORT: u16 = 8099;

/// What stands for the key.
const KEY: &str = "jurat-has-the-key";

/// What a model is called that has no name of its own.
const LOCAL: &str = "model";

/// The access of an agent to its model, and to host names that it may reach.
pub(super) struct Access {
    proxy: Option<Proxy>,
    /// The model by its name, and where the agent finds it.
    pub(super) model: Option<(String, Option<ModelAt>)>,
    /// The servers with tools, where the agent finds them.
    pub(super) servers: Vec<ServerAt>,
    desk: Option<ToolDesk>,
}

impl Access {
    /// Opens a proxy where the agent may reach anything through it. `on_spent` is called when nothing more may be asked.
    pub(super) fn open(task: Task<'_>, listen: &Listen, on_spent: Option<OnSpent>) -> Result<Access, String> {
        let model = match &task.request.model {
            None => None,
            Some(role) => {
                let model =
                    task.models.model(role).ok_or_else(|| format!("no model is configured for role `{role}`"))?;
                Some((task.models.name(role).unwrap_or_else(|| role.to_string()), model))
            }
        };
        let (tools, desk) = ToolDesk::open(&task.case().agent).unzip();
        let proxy = proxy(task, model.as_ref().map(|(_, it)| it), tools, listen, on_spent)?;
        let servers = proxy.iter().flat_map(|it| servers_at(&task.case().agent.servers, it)).collect();
        let at = |model: &Model| proxy.as_ref().map(|it| model_at(model, task.case().agent.runner.wire(), it));
        let model = model.map(|(name, model)| (name, at(&model)));
        Ok(Access { proxy, model, servers, desk })
    }

    /// Where the agent finds its model.
    pub(super) fn at(&self) -> Option<&ModelAt> {
        self.model.as_ref()?.1.as_ref()
    }

    /// Waits for a turn of the agent, and answers what it asks of servers meanwhile.
    pub(super) async fn beside<T>(&mut self, task: Task<'_>, turn: impl Future<Output = T>) -> T {
        match &mut self.desk {
            Some(desk) => desk.beside(task, turn).await,
            None => turn.await,
        }
    }

    /// The port of the proxy, as the agent sees it.
    pub(super) fn port(&self) -> Option<u16> {
        self.proxy.as_ref().map(port)
    }

    pub(super) fn spent(&self) -> Option<Spent> {
        self.proxy.as_ref().and_then(Proxy::spent)
    }

    /// Closes the proxy and returns what it recorded. It ends when its last exchange does, and other cases run meanwhile.
    pub(super) async fn finish(self) -> Result<Option<Record>, Halt> {
        let Some(proxy) = self.proxy else { return Ok(None) };
        let record = blocking(move || proxy.finish()).await?;
        // The budget was used up before the agent asked anything: there is nothing to report.
        match record.spent == Some(Spent::Budget) && record.n_requests == 0 {
            true => Err(Halt::Stopped(StopReason::Budget)),
            false => Ok(Some(record)),
        }
    }
}

fn port(proxy: &Proxy) -> u16 {
    proxy.port().unwrap_or(PORT)
}

fn proxy(
    task: Task<'_>,
    model: Option<&Arc<Model>>,
    tools: Option<ToolServers>,
    listen: &Listen,
    on_spent: Option<OnSpent>,
) -> Result<Option<Proxy>, String> {
    let agent = &task.case().agent;
    let names = match agent.network() {
        Network::Allow(names) => names,
        Network::Off | Network::Loopback | Network::Host => Vec::new(),
    };
    let upstream = match model {
        Some(model) if agent.network() != Network::Off => Upstream::Model(Arc::clone(model)),
        _ if !names.is_empty() || tools.is_some() && agent.network() != Network::Off => Upstream::NoModel,
        _ => return Ok(None),
    };
    let limits = &agent.limits;
    let role = task.request.model.as_ref().map(Role::to_string).unwrap_or_default();
    let options = ProxyOptions {
        // Every user of the machine can reach a port.
        key: (*listen == Listen::Loopback).then(random_key),
        limits: ProxyLimits { requests: limits.requests, tokens: limits.tokens, usd: limits.cost_usd },
        names: Names::read(names.iter().map(String::as_str))
            .map_err(|name| format!("`{name}` under `allow` is no name of a host"))?,
        proxies: task.models.proxies().clone(),
        now_ms: crate::now_ms,
        meter: Some(task.models.shared_budget()),
        on_spent,
        tools,
        on_behalf: OnBehalf { case: task.case().id.clone(), role, ..OnBehalf::default() },
        ..ProxyOptions::to(upstream)
    };
    Proxy::start(listen, options).map(Some).map_err(|error| error.to_string())
}

/// Where an agent finds its servers. Clients of the protocol differ in the headers that they can send, so a key is in the address.
fn servers_at(names: &[String], proxy: &Proxy) -> Vec<ServerAt> {
    let key = proxy.key().map_or(String::new(), |it| format!("?key={it}"));
    let at = |name: &String| ServerAt {
        name: name.clone(),
        url: format!("http://127.0.0.1:{}{TOOLS_PATH}{name}{key}", port(proxy)),
    };
    names.iter().map(at).collect()
}

/// Where an agent whose requests have the format `wire` finds its model.
fn model_at(model: &Model, wire: Option<Wire>, proxy: &Proxy) -> ModelAt {
    let endpoint = model.endpoint();
    // A model that is not asked over HTTP is asked in the agent's place, whatever format its requests have.
    let known = Wire::named(&endpoint.codec);
    ModelAt {
        wire: known.or(wire).unwrap_or(Wire::OpenAiChat),
        base_url: format!("http://127.0.0.1:{}", port(proxy)),
        model: if known.is_some() { &endpoint.model } else { LOCAL }.to_owned(),
        key: proxy.key().unwrap_or(KEY).to_owned(),
        price: model.price().map(|it| (it.input, it.output)),
        max_tokens: model.max_tokens(),
    }
}

/// What the proxy saw, for the artifact.
pub(super) fn exchanges(record: &Record) -> Exchanges {
    let usage = record.usage;
    let is_counted = usage.total() > 0;
    let known = |count: u64| is_counted.then_some(count);
    Exchanges {
        n_requests: record.n_requests,
        tokens: Tokens {
            input: known(usage.input),
            output: known(usage.output),
            total: known(usage.total()),
            reasoning: known(usage.reasoning),
            cached_input: known(usage.cached),
            cache_write: None,
        },
        n_uncounted: record.n_uncounted,
        cost_usd: record.cost_usd.filter(|_| is_counted),
        spent: record.spent.map(limit_of_spent),
        failed: record.failure().map(|it| {
            let code = it.status.map_or_else(|| "no_reply".to_owned(), |it| format!("status_{it}"));
            EndpointFault { code, message: it.message.clone(), class: it.class }
        }),
        unanswered: record.unanswered().map(|it| EndpointFault {
            code: "no_response".to_owned(),
            message: it.error.clone().unwrap_or_default(),
            class: FaultClass::Timeout,
        }),
        refusal: record.refusal().map(str::to_owned),
        n_refusals: record.n_refusals(),
        n_failures: record.n_failures(),
        n_truncated: record.n_truncated(),
    }
}

pub(super) fn limit_of_spent(spent: Spent) -> Limit {
    match spent {
        Spent::Requests => Limit::Requests,
        Spent::Tokens => Limit::Tokens,
        Spent::Usd => Limit::Cost,
        Spent::Budget => Limit::Budget,
    }
}

/// What passed between an agent and its model, one exchange a line.
pub(super) fn wire_lines(record: &Record) -> String {
    let mut lines = String::new();
    for exchange in &record.exchanges {
        let text = |it: &str| Val::from(it.to_owned());
        let members = [
            ("at_ms", Val::from(exchange.at_ms)),
            ("method", text(&exchange.method)),
            ("path", text(&exchange.path)),
            ("request", text(&exchange.request.text)),
            ("status", exchange.status.map_or(Val::Null, |it| Val::from(u32::from(it)))),
            ("reply", text(&exchange.reply.text)),
            ("error", exchange.error.as_deref().map_or(Val::Null, text)),
            ("model", exchange.requested_model.as_deref().map_or(Val::Null, text)),
            ("took_ms", Val::from(u64::try_from(exchange.duration.as_millis()).unwrap_or(u64::MAX))),
            ("input_tokens", exchange.usage.as_ref().map_or(Val::Null, |it| Val::from(it.input))),
            ("output_tokens", exchange.usage.as_ref().map_or(Val::Null, |it| Val::from(it.output))),
        ];
        lines.push_str(&Val::Map(members.into_iter().collect::<Map<'static>>()).to_json());
        lines.push('\n');
    }
    lines
}
