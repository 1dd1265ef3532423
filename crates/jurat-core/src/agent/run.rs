//! From what happened to the run artifact: one form for all runners, and one rule for how a run ended.

use std::collections::BTreeSet;
use std::time::Duration;

use jurat_format::choices;
use jurat_format::value::{Map, Val, Value};

use super::turn_report::{FaultSource, TurnReport, add};
use super::{AgentCase, ModelAt, Network, Workspace};
use crate::artifact::{
    Event, Happening, Identity, OutputArtifact, Provider, RunArtifact, RunFault, RunRequest, RunStatus, RunUsage,
    Timing, Tokens, is_identifier,
};
use crate::check::is_blank;
use crate::effect::{FaultClass, Finish, Outcome};
use crate::evidence::fault::{CONFIGURATION, NOT_STARTED};

/// The highest cost of a turn that a program is believed. What is higher is not known.
const MOST_USD: f64 = 1e6;

/// A run that is over.
#[derive(Debug, Clone)]
pub struct AgentRun<'r> {
    pub case: &'r AgentCase,
    /// What the run is known by.
    pub run_id: String,
    pub suite: &'r str,
    /// The model as it is called where it is asked for, and the address the agent had of it.
    pub model: Option<(&'r str, Option<&'r ModelAt>)>,
    /// The turns that were run; one that fails is the last.
    pub turns: Vec<TurnRun>,
    /// What was asked of its model, as far as jurat saw it.
    pub exchanges: Option<Exchanges>,
    /// What is stored of it.
    pub stored: StoredRun,
    /// When it began and ended, in milliseconds since 1970.
    pub began_ms: u64,
    /// See `began_ms`.
    pub ended_ms: u64,
    /// Where it ran, in one word: `namespaces`, `container`, `host`, `jurat`.
    pub place: &'static str,
    pub enforced: Vec<(Limit, Mechanism)>,
    /// The version of the program and the hash of the file that is started, where they are known.
    pub program: Option<(Option<String>, String)>,
    pub replicate: u32,
}

/// One turn of a run.
#[derive(Debug, Clone)]
pub struct TurnRun {
    /// What the agent was asked.
    pub message: String,
    pub report: TurnReport,
    pub ending: Ending,
    /// The end of what it printed beside its events, for people.
    pub stderr: String,
    pub took: Duration,
}

impl TurnRun {
    /// Whether the program's own events have what the agent was asked to do. Some report other texts as words of the user: reminders, summaries.
    fn has_task(&self) -> bool {
        let task = self.message.trim();
        self.report.events.iter().any(|it| match &it.what {
            Happening::Message { role, content, .. } if role == "user" => says(content, task),
            _ => false,
        })
    }
}

/// Whether a message, or one of its parts, has a text in it.
fn says(content: &Val<'_>, text: &str) -> bool {
    match content {
        Val::Str(said) => said.contains(text),
        Val::List(parts) => parts.iter().any(|it| it.get("text").is_some_and(|it| says(it, text))),
        _ => false,
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that jurat did not send.
    Signalled(i32),
    /// By jurat, because it took too much of this.
    Limited(Limit),
    /// It was never started, for this reason.
    NotStarted(String),
}

choices! {
    /// What a run may not take more of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Limit {
        Time = "time",
        /// Bytes printed.
        Output = "output",
        Processes = "processes",
        Memory = "memory",
        /// Bytes in its workspace.
        Workspace = "workspace",
        /// Requests to its model.
        Requests = "requests",
        /// Tokens of its model.
        Tokens = "tokens",
        /// Dollars.
        Cost = "cost_usd",
        /// Steps.
        Turns = "turns",
        /// What all cases of a run may spend together.
        Budget = "budget",
    }
}

/// What holds a limit, in one word.
pub type Mechanism = String;

/// What was asked of a model on behalf of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exchanges {
    /// How many requests there were.
    pub n_requests: u64,
    /// What they took, as far as the endpoint said.
    pub tokens: Tokens,
    /// Replies that did not say what they took.
    pub n_uncounted: u64,
    /// What all of it cost, when the price is known.
    pub cost_usd: Option<f64>,
    /// The limit that was reached, after which requests were refused.
    pub spent: Option<Limit>,
    /// What went wrong at the endpoint, when that was the last it did.
    pub failed: Option<EndpointFault>,
    /// A request that the agent closed before a response came, when the endpoint answered none after it.
    pub unanswered: Option<EndpointFault>,
    /// The words of the model's refusal (perhaps none), when that was its last reply.
    pub refusal: Option<String>,
    /// How many replies were refusals.
    pub n_refusals: u64,
    /// How many requests the endpoint failed at.
    pub n_failures: u64,
    /// How many replies were cut off at `max_tokens`.
    pub n_truncated: u64,
}

impl Exchanges {
    /// Counts the requests of an outcome, where jurat itself asked the model.
    pub fn count(&mut self, outcome: &Outcome) {
        let (n_requests, n_failures, is_truncated) = match outcome {
            Outcome::Answer(it) => (it.n_requests, it.n_requests.saturating_sub(1), it.finish == Finish::Length),
            Outcome::Fault(fault) => (fault.n_requests, fault.n_requests, false),
            Outcome::Returned(_) | Outcome::Ran(_) | Outcome::NotRun(_) => (0, 0, false),
        };
        self.n_requests += u64::from(n_requests);
        self.n_failures += u64::from(n_failures);
        self.n_truncated += u64::from(is_truncated);
    }
}

/// What went wrong at the endpoint of an agent's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointFault {
    pub code: String,
    pub message: String,
    /// What it means for further requests.
    pub class: FaultClass,
}

/// What is stored of a run outside of its artifact.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredRun {
    /// The name of the directory that it is in; empty when nothing is.
    pub directory: String,
    /// What became of the workspace.
    pub workspace: Workspace,
    pub outputs: Vec<OutputArtifact>,
    /// Logs and raw traces, as references of their own kinds.
    pub logs: Vec<OutputArtifact>,
    /// Key outputs that are not there, or could not be stored, each with why.
    pub missing: Vec<(String, String)>,
}

impl AgentRun<'_> {
    /// Marks results of calls as errors, by the ends of their ids.
    pub fn fail_calls(&mut self, ids: &BTreeSet<String>) {
        for event in self.turns.iter_mut().flat_map(|it| &mut it.report.events) {
            if let Happening::ToolResult { call_id: Some(id), is_error, .. } = &mut event.what
                && ids.iter().any(|it| id.ends_with(it.as_str()))
            {
                *is_error = Some(true);
            }
        }
    }

    /// The artifact. The reports of the turns are moved into it.
    pub fn artifact(&mut self) -> RunArtifact {
        let runner = self.case.agent.runner.name;
        let (status, error) = self.conclusion();
        let duration = Duration::from_millis(self.ended_ms.saturating_sub(self.began_ms));
        let served = self.turns.last().and_then(|it| it.report.model.clone());
        RunArtifact {
            identity: Identity {
                run_id: self.run_id.clone(),
                case_id: identifier(&self.case.id),
                suite_id: identifier(self.suite),
                run_profile_id: identifier(&self.case.agent.name),
                runner_type: runner.to_owned(),
            },
            status,
            timing: Timing {
                queued_at: None,
                started_at: super::launch::moment(self.began_ms),
                completed_at: super::launch::moment(self.ended_ms),
                duration_seconds: Some(duration.as_secs_f64()),
            },
            request: RunRequest {
                requested_model: self.model.map_or_else(|| "none".to_owned(), |(name, _)| name.to_owned()),
                gateway: None,
                execution_parameters: self.parameters(),
                metadata: self.case.metadata.clone(),
            },
            provider: Provider {
                provider_model_id: served,
                finish_reason: (status == RunStatus::Refused).then(|| Finish::Refusal.name().to_owned()),
                ..Provider::default()
            },
            usage: self.usage(),
            trace: self.trace(),
            output_artifacts: self.stored.outputs.clone(),
            error,
            runner_metadata: self.metadata(),
        }
    }

    /// An artifact that a function returned, with what only jurat knows: what became of the workspace, and what is stored of it.
    pub fn completed(&mut self, mut artifact: RunArtifact) -> RunArtifact {
        let ours = self.artifact();
        let mut metadata = artifact.runner_metadata.as_map().cloned().unwrap_or_default();
        for (key, value) in ours.runner_metadata.as_map().into_iter().flat_map(Map::iter) {
            if metadata.get(key).is_none() {
                metadata.insert(key.to_owned().into(), value.clone());
            }
        }
        artifact.runner_metadata = Val::Map(metadata);
        // What it made without its endpoint says nothing about what it would have made with it.
        if self.exchanges.as_ref().is_some_and(|it| it.failed.is_some() || it.unanswered.is_some()) {
            (artifact.status, artifact.error) = (ours.status, ours.error);
        }
        artifact.output_artifacts.extend(ours.output_artifacts);
        artifact
    }

    fn parameters(&self) -> Value {
        let limits = &self.case.agent.limits;
        let mut members: Map<'static> = [("timeout_seconds", Val::F(limits.time.as_secs_f64()))].into_iter().collect();
        if let Some(turns) = limits.turns {
            members.insert("max_turns".into(), Val::from(turns));
        }
        Val::Map(members)
    }

    /// What the run took: what passed the proxy, where all of it was counted; else what the program reports.
    fn usage(&self) -> RunUsage {
        let reported = self.reported();
        let Some(counted) = self.counted(&reported) else { return reported };
        RunUsage {
            normalized: Tokens { cache_write: reported.normalized.cache_write, ..counted.tokens },
            cost_usd: counted.cost_usd.or(reported.cost_usd).filter(|it| it.is_finite()),
            raw_provider_usage: reported.raw_provider_usage,
        }
    }

    /// What passed the proxy, where it is the better count. A program that can also reach other models may report more than passed.
    fn counted(&self, reported: &RunUsage) -> Option<&Exchanges> {
        let counted = self.exchanges.as_ref().filter(|it| it.n_uncounted == 0 && it.tokens.total.is_some())?;
        let is_only_way = !self.case.agent.runner.is_function()
            && matches!(self.case.agent.network(), Network::Loopback | Network::Off);
        (is_only_way || reported.normalized.total <= counted.tokens.total).then_some(counted)
    }

    /// What the program reports, and what the endpoint said where the program reports nothing. A price that the author gave overrides the program's.
    fn reported(&self) -> RunUsage {
        let mut usage = RunUsage::default();
        for turn in &self.turns {
            if self.case.agent.runner.counts_session() && turn.report.usage.normalized != Tokens::default() {
                usage.normalized = Tokens::default();
            }
            add(&mut usage.normalized, &turn.report.usage.normalized);
            if let Some(cost) = turn.report.usage.cost_usd.filter(|it| *it <= MOST_USD) {
                *usage.cost_usd.get_or_insert(0.0) += cost;
            }
            usage.raw_provider_usage = turn.report.usage.raw_provider_usage.clone().or(usage.raw_provider_usage);
        }
        if usage.normalized == Tokens::default()
            && let Some(exchanges) = &self.exchanges
        {
            usage.normalized = exchanges.tokens;
        }
        let price = self.model.and_then(|(_, at)| at?.price);
        if let (Some((input, output)), Tokens { input: Some(read), output: Some(written), .. }) =
            (price, usage.normalized)
        {
            usage.cost_usd = Some((read as f64 * input + written as f64 * output) / 1e6);
        }
        usage.cost_usd = usage.cost_usd.filter(|it| it.is_finite());
        usage
    }

    /// What the program reports, where that is not what passed the proxy.
    fn difference(&self) -> Option<Value> {
        let reported = self.reported().normalized;
        let counted = self.counted(&self.reported())?.tokens;
        let is_same = (reported.input, reported.output) == (counted.input, counted.output);
        let counts = [("input_tokens", reported.input), ("output_tokens", reported.output)];
        let members = counts.into_iter().filter_map(|(name, count)| Some((name, Val::from(count?))));
        (!is_same).then(|| Val::Map(members.collect::<Map<'static>>()))
    }

    fn trace(&mut self) -> Vec<Event> {
        let words = self.refusal().map(str::to_owned);
        let (n_turns, is_answered) = (self.turns.len(), self.is_answered());
        let mut trace = Vec::new();
        let event = |what| Event { timestamp: None, metadata: None, what };
        for (ix, turn) in self.turns.iter_mut().enumerate() {
            if !turn.has_task() {
                let content = Val::from(turn.message.clone());
                trace.push(event(Happening::Message { role: "user".to_owned(), content, name: None }));
            }
            trace.append(&mut turn.report.events);
            let words = words.as_deref().filter(|_| ix + 1 == n_turns);
            let words = words.or(is_answered.then(|| turn.report.words_of_provider()).flatten());
            let response = turn.report.response.as_deref().filter(|it| !is_blank(it)).or(words);
            if let Some(response) = response.or(turn.report.response.as_deref()) {
                trace.push(event(Happening::FinalOutput { content: Some(response.to_owned()) }));
            }
            let detail = [
                ("turn", Val::from(ix as u64 + 1)),
                ("seconds", Val::F((turn.took.as_secs_f64() * 1e4).round() / 1e4)),
                ("ending", Val::from(ending_words(&turn.ending))),
            ];
            let detail = Val::Map(detail.into_iter().collect::<Map<'static>>());
            trace.push(event(Happening::Runner { name: "turn_ended".to_owned(), detail }));
        }
        trace
    }

    /// The words of the refusal (perhaps none) that the run ended with: as the proxy read them, else as the program has them.
    fn refusal(&self) -> Option<&str> {
        let read = self.exchanges.as_ref().and_then(|it| it.refusal.as_deref());
        let fault = self.turns.last().and_then(|it| it.report.fault.as_ref());
        let report = fault.filter(|it| it.source == FaultSource::Refusal).map(|it| it.message.as_str());
        read.filter(|it| !is_blank(it)).or(report).or(read)
    }

    /// How the run ended: whether it was stopped, or its model failed or refused; then whose fault it is; then whether anything was said.
    fn conclusion(&self) -> (RunStatus, Option<RunFault>) {
        match self.turns.last() {
            None => failed(RunStatus::Failed, NOT_STARTED, "no turn was run".to_owned(), None),
            Some(turn) => self.stopped(turn).unwrap_or_else(|| self.ended(turn)),
        }
    }

    /// How a run ended that was not left to its end, or whose model failed or refused.
    fn stopped(&self, turn: &TurnRun) -> Option<(RunStatus, Option<RunFault>)> {
        let spent = self.exchanges.as_ref().and_then(|it| it.spent);
        Some(match &turn.ending {
            Ending::NotStarted(why) => failed(RunStatus::Failed, NOT_STARTED, why.clone(), None),
            // What an agent does without its model says nothing about what it would have done with it.
            _ if spent == Some(Limit::Budget) => limited(Limit::Budget),
            // Nor does what it did when the last reply of its endpoint was a failure, however well its program ended.
            _ if let Some(fault) = self.exchanges.as_ref().and_then(|it| it.failed.clone()) => {
                provider_error(&fault.code, fault.message, Some(fault.class))
            }
            _ if let Some(words) = self.refusal() => refused(words),
            Ending::Limited(Limit::Time) if spent.is_none() => {
                let seconds = self.case.agent.limits.time.as_secs_f64();
                let message = format!("the agent took longer than {seconds} seconds");
                failed(RunStatus::TimedOut, "timeout", message, Some(true))
            }
            // An agent that asks again and again after a limit of requests runs out of time because of that limit.
            Ending::Limited(limit) => limited(spent.filter(|_| *limit == Limit::Time).unwrap_or(*limit)),
            Ending::Exited(_) | Ending::Signalled(_) => return None,
        })
    }

    /// Whether the proxy saw a response of the model last.
    fn is_answered(&self) -> bool {
        self.exchanges.as_ref().is_some_and(|it| it.n_requests > it.n_failures && it.failed.is_none())
    }

    fn ended(&self, turn: &TurnRun) -> (RunStatus, Option<RunFault>) {
        let said = |message: String| match turn.stderr.trim() {
            "" => message,
            stderr => format!("{message}; it printed: {stderr}"),
        };
        let fault = turn.report.fault.as_ref();
        if let Some(fault) = fault.filter(|it| it.source == FaultSource::Time) {
            return failed(RunStatus::TimedOut, &fault.code, fault.message.clone(), Some(true));
        }
        let exchanges = self.exchanges.as_ref();
        // An agent that gave up waiting for its model was not able to do its task, whatever it says.
        if let Some(fault) = exchanges.and_then(|it| it.unanswered.clone()) {
            return provider_error(&fault.code, fault.message, Some(fault.class));
        }
        let has_word = turn.report.response.as_deref().is_some_and(|it| !is_blank(it));
        let is_fine = turn.ending == Ending::Exited(0) && fault.is_none() && has_word;
        if let Some(limit) = exchanges.and_then(|it| it.spent).filter(|_| !is_fine) {
            return limited(limit);
        }
        if self.is_answered() && turn.report.words_of_provider().is_some() {
            return (RunStatus::Success, None);
        }
        match (fault, &turn.ending) {
            (Some(fault), _) if matches!(fault.source, FaultSource::Provider | FaultSource::ProviderWords) => {
                provider_error(&fault.code, fault.message.clone(), fault.class)
            }
            (Some(fault), _) if fault.source == FaultSource::Configuration => {
                let (status, error) = failed(RunStatus::Invalid, &fault.code, fault.message.clone(), Some(false));
                (status, error.map(|it| RunFault { error_type: Some(CONFIGURATION.to_owned()), ..it }))
            }
            // A program that ends badly breaks off its stream, too; that it ended badly says more.
            (None | Some(_), Ending::Exited(code))
                if *code != 0 && fault.is_none_or(|it| it.source == FaultSource::Stream) =>
            {
                failed(RunStatus::Failed, "exit_status", said(format!("the program ended with status {code}")), None)
            }
            (_, Ending::Signalled(signal)) => {
                failed(RunStatus::Failed, "signal", said(format!("the program was ended by signal {signal}")), None)
            }
            (Some(fault), _) => failed(RunStatus::Failed, &fault.code, said(fault.message.clone()), None),
            (None, _) if !has_word => {
                failed(RunStatus::Invalid, "empty_output", "the agent ended without a final message".to_owned(), None)
            }
            (None, _) => (RunStatus::Success, None),
        }
    }

    fn metadata(&self) -> Value {
        let mut members: Map<'static> = Map::default();
        let mut put = |key: &'static str, value: Value| {
            members.insert(key.into(), value);
        };
        put("agent", Val::from(self.case.agent.name.clone()));
        put("replicate", Val::from(self.replicate));
        put("place", Val::from(self.place));
        put("network", self.case.agent.network().to_value());
        if let Some(Ending::Exited(code)) = self.turns.last().map(|it| &it.ending).filter(|_| self.program.is_some()) {
            put("exit_status", Val::from(*code));
        }
        if let Some((version, digest)) = &self.program {
            let version = version.clone().or_else(|| self.turns.iter().find_map(|it| it.report.version.clone()));
            let mut program: Map<'static> = Map::default();
            if let Some(version) = version {
                program.insert("version".into(), Val::from(version));
            }
            program.insert("blake3".into(), Val::from(digest.clone()));
            put("program", Val::Map(program));
        }
        if let Some(exchanges) = &self.exchanges {
            put("requests", Val::from(exchanges.n_requests));
            let counts = [
                ("failed_requests", exchanges.n_failures),
                ("refusals", exchanges.n_refusals),
                ("truncated_responses", exchanges.n_truncated),
            ];
            for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
                put(name, Val::from(count));
            }
        }
        if let Some(reported) = self.difference() {
            put("reported_usage", reported);
        }
        if !self.enforced.is_empty() {
            let by = self.enforced.iter().map(|(limit, by)| (limit.name(), Val::from(by.clone())));
            put("enforced_by", Val::Map(by.collect::<Map<'static>>()));
        }
        if !self.stored.directory.is_empty() {
            put("directory", Val::from(self.stored.directory.clone()));
        }
        if !self.stored.logs.is_empty() {
            put("logs", self.stored.logs.iter().map(OutputArtifact::to_value).collect());
        }
        if !self.stored.missing.is_empty() {
            let missing = self.stored.missing.iter().map(|(path, why)| (path.clone(), Val::from(why.clone())));
            put("missing_key_outputs", Val::Map(missing.collect::<Map<'static>>()));
        }
        put("workspace", self.stored.workspace.to_value());
        Val::Map(members)
    }
}

fn failed(status: RunStatus, code: &str, message: String, retryable: Option<bool>) -> (RunStatus, Option<RunFault>) {
    let fault =
        RunFault { code: code.to_owned(), message, error_type: None, retryable, provider_code: None, metadata: None };
    (status, Some(fault))
}

/// A run whose model could not be asked. The kind of error is the class of the fault.
fn provider_error(code: &str, message: String, class: Option<FaultClass>) -> (RunStatus, Option<RunFault>) {
    let is_retryable = class.is_none_or(FaultClass::is_retryable);
    let (status, error) = failed(RunStatus::ProviderError, code, message, Some(is_retryable));
    let error_type = class.map(|it| it.name().to_owned());
    (status, error.map(|it| RunFault { error_type, ..it }))
}

fn refused(words: &str) -> (RunStatus, Option<RunFault>) {
    let message = match words.trim() {
        "" => "the model refused, without words".to_owned(),
        words => format!("the model refused: {words}"),
    };
    failed(RunStatus::Refused, "refused", message, Some(false))
}

fn limited(limit: Limit) -> (RunStatus, Option<RunFault>) {
    let name = limit.name();
    let message = match limit {
        Limit::Budget => "the agent was stopped because the budget of the run is used up".to_owned(),
        _ => format!(
            "the agent was stopped at its limit of `{name}`; `limits` in its definition says how much it may take"
        ),
    };
    failed(RunStatus::Failed, &format!("limit_{name}"), message, Some(false))
}

fn ending_words(ending: &Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("status {code}"),
        Ending::Signalled(signal) => format!("signal {signal}"),
        Ending::Limited(limit) => format!("limit of {}", limit.name()),
        Ending::NotStarted(_) => "not started".to_owned(),
    }
}

/// A name as artifacts allow it: small letters, digits, `_` and `-`.
fn identifier(name: &str) -> String {
    if is_identifier(name) {
        return name.to_owned();
    }
    let lower = name.to_lowercase();
    let plain: String = lower
        .chars()
        .map(|it| if it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_' { it } else { '-' })
        .collect();
    let plain = plain.trim_start_matches(['-', '_']);
    if plain.is_empty() { "unnamed".to_owned() } else { plain.to_owned() }
}
