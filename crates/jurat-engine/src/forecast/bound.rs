//! What calls cost at most.
//!
//! No token is shorter than a byte, so a request reads at most as many tokens as it has bytes, and writes at most `max_tokens`. A prompt that
//! waits for what a model will write is bounded by what that model may write; a token that one model wrote counts as one
//! token for the model that reads it.

use std::collections::BTreeMap;

use jurat_core::effect::{Endpoint, EndpointKey, Message, Messages, ModelRequest, Role, Usage};
use jurat_core::judge::ReplyForm;
use jurat_core::plan::{EMBEDDING_RETRIES, Plan, PlannedJudge, TaskIx};
use jurat_core::prompt::Prompt;
use jurat_core::report::plan::CostBound;
use jurat_format::id::same_id;
use jurat_format::value::Val;
use jurat_model::codec::Codec;
use jurat_model::price::cost;
use jurat_model::{Price, ResolvedModel};

/// When a judge is asked again, what was wrong is stated: at most this number of findings, each with the part of the answer it is about.
const FINDINGS: u64 = 5;
/// The words around them.
const WORDS: u64 = 1000;

/// A model that is asked, as far as it matters for what that costs.
#[derive(Debug)]
pub(super) struct Player<'r> {
    name: &'r str,
    endpoint: &'r Endpoint,
    pub(super) key: EndpointKey,
    /// `None` for those that are on this machine.
    codec: Option<Codec>,
    price: Option<Price>,
    pub(super) max_tokens: Option<u64>,
}

impl<'r> Player<'r> {
    /// A model, whether its requests are sent in batches where that is possible, and whether some are marked for the provider's cache.
    pub(super) fn of(model: &'r ResolvedModel, batch: bool, is_cached: bool) -> Player<'r> {
        let is_batched = batch && model.has_batches() && !model.embeds();
        let price = if is_cached { model.price.as_ref().map(Price::with_cache_writes) } else { model.price };
        let max_tokens = match model.endpoint.setting("max_tokens") {
            // An embedding is no text: nothing is written.
            _ if model.embeds() => Some(0),
            Some(Val::I(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        Player {
            name: &model.name,
            endpoint: &model.endpoint,
            key: EndpointKey::new(&model.endpoint),
            codec: Codec::named(&model.endpoint.codec),
            price: if is_batched { price.as_ref().map(Price::halved) } else { price },
            max_tokens,
        }
    }

    /// Whether it is on this machine, so that asking it costs nothing.
    pub(super) fn is_local(&self) -> bool {
        self.codec.is_none()
    }

    /// The bytes of a request; what the provider cannot do is not sent.
    fn n_bytes(&self, request: &ModelRequest) -> u64 {
        let encoded = self.codec.and_then(|it| it.encode(self.endpoint, request, false).ok());
        encoded.map_or(0, |it| it.body.len() as u64)
    }
}

/// What calls cost at most, added up.
#[derive(Debug)]
pub(super) struct Bounds<'p> {
    plan: &'p Plan,
    usd: f64,
    /// Why the bound is not known, in words.
    unknown: Vec<String>,
    /// The bytes of the requests of each task and role before their prompts are filled.
    templates: BTreeMap<(usize, u32, Role), u64>,
}

impl<'p> Bounds<'p> {
    pub(super) fn new(plan: &'p Plan) -> Bounds<'p> {
        Bounds { plan, usd: 0.0, unknown: Vec::new(), templates: BTreeMap::new() }
    }

    pub(super) fn cost(self) -> CostBound {
        if self.unknown.is_empty() { CostBound::AtMost(self.usd) } else { CostBound::Unknown(self.unknown) }
    }

    /// Notes why the bound is not known.
    pub(super) fn unknown(&mut self, reason: String) {
        if !self.unknown.contains(&reason) {
            self.unknown.push(reason);
        }
    }

    /// Adds a request that is known, of a task or of a case to its subject, and those that may follow it.
    pub(super) fn request(
        &mut self,
        player: &Player<'_>,
        task: Option<TaskIx>,
        request: &ModelRequest,
        n_requests: u32,
    ) {
        let judge = task.and_then(|it| self.plan.tasks[it.index()].work.judge());
        self.add(player, judge, player.n_bytes(request), n_requests);
    }

    /// Adds the requests of a judge whose prompt is not known yet. What it reads of its case has at most `n_case` tokens, when the subject
    /// that has still to answer keeps to its `max_tokens`.
    pub(super) fn unbound(
        &mut self,
        players: &BTreeMap<&Role, Player<'_>>,
        task: TaskIx,
        n_case: u64,
        subject: Option<&Player<'_>>,
    ) {
        let plan = self.plan;
        let planned = &plan.tasks[task.index()];
        if let Some(player) = planned.work.embedder().and_then(|it| players.get(&Role::from(it))) {
            // Output and reference are both part of the case.
            self.add(player, None, n_case.saturating_mul(2), EMBEDDING_RETRIES + 1);
        }
        let Some(judge) = planned.work.judge() else { return };
        if planned.work.evaluation().is_some() {
            self.unknown(format!("what `{}` shows its judges of a run is known only then", planned.id));
            return;
        }
        self.questions(players, task, (judge.n_steps(), n_case), subject);
    }

    /// Adds the requests of the last questions of a judge, of which nothing is known but their prompts.
    pub(super) fn questions(
        &mut self,
        players: &BTreeMap<&Role, Player<'_>>,
        task: TaskIx,
        (n_questions, n_case): (u32, u64),
        subject: Option<&Player<'_>>,
    ) {
        let plan = self.plan;
        let Some(judge) = plan.tasks[task.index()].work.judge() else { return };
        if judge.used.is_none() && (judge.prompt.is_open_ended() || judge.system.iter().any(Prompt::is_template)) {
            self.unknown(format!("how long the prompt of `{}` is depends on each case", plan.tasks[task.index()].id));
            return;
        }
        for question in judge.n_steps().saturating_sub(n_questions)..judge.n_steps() {
            for role in &judge.models {
                let Some(player) = players.get(role).filter(|it| !it.is_local()) else { continue };
                if let Some(subject) = subject.filter(|it| it.max_tokens.is_none()) {
                    self.lacks(subject, "`max_tokens`");
                }
                let n_filled = self.filled(players, task, question, n_case);
                let key = (task.index(), question, role.clone());
                let n_template =
                    *self.templates.entry(key).or_insert_with(|| player.n_bytes(&template(judge, question, role)));
                for _ in 0..judge.repeat {
                    self.add(player, Some(judge), n_template + n_filled, judge.max_retries.saturating_add(1));
                }
            }
        }
    }

    /// What fills the holes of the prompts of a question.
    fn filled(&mut self, players: &BTreeMap<&Role, Player<'_>>, task: TaskIx, question: u32, n_case: u64) -> u64 {
        let plan = self.plan;
        let Some(judge) = plan.tasks[task.index()].work.judge() else { return 0 };
        let (system, prompts) = prompts(judge, question);
        let mut n_tokens = 0;
        for root in
            system.into_iter().chain(prompts).flat_map(Prompt::holes).map(|it| it.path.root().unwrap_or_default())
        {
            if let Some(used) = &judge.used {
                let is_reply = used.steps.iter().any(|it| it.id == root);
                n_tokens += if is_reply { self.most_written(players, judge) } else { n_case };
                continue;
            }
            let above = plan.tasks[task.index()].depends_on.iter().map(|it| &plan.tasks[it.index()]);
            n_tokens += match above.into_iter().find(|it| same_id(&it.id, root)).map(|it| it.work.judge()) {
                None => n_case,
                // `true` or `false`.
                Some(None) => 5,
                Some(Some(judge)) => self.most_written(players, judge),
            };
        }
        n_tokens
    }

    /// The most tokens that a judge writes.
    fn most_written(&mut self, players: &BTreeMap<&Role, Player<'_>>, judge: &PlannedJudge) -> u64 {
        let mut most = 0;
        for player in judge.models.iter().filter_map(|it| players.get(it)) {
            match player.max_tokens {
                Some(n) => most = most.max(n),
                None => self.lacks(player, "`max_tokens`"),
            }
        }
        most
    }

    fn add(&mut self, player: &Player<'_>, judge: Option<&PlannedJudge>, n_input: u64, n_requests: u32) {
        if player.is_local() || n_requests == 0 {
            return;
        }
        if player.price.is_none() {
            self.lacks(player, "price");
        }
        if player.max_tokens.is_none() {
            self.lacks(player, "`max_tokens`");
        }
        let (Some(price), Some(max_tokens)) = (&player.price, player.max_tokens) else { return };
        let n_requests = u64::from(n_requests);
        let n_more = judge.map_or(0, |it| more_when_asked_again(it, max_tokens));
        let n_again = n_requests.saturating_mul(n_requests - 1) / 2;
        let input = n_requests.saturating_mul(n_input).saturating_add(n_again.saturating_mul(n_more));
        let usage = Usage { input, output: n_requests.saturating_mul(max_tokens), ..Usage::default() };
        self.usd += cost(&usage, price);
    }

    fn lacks(&mut self, player: &Player<'_>, what: &str) {
        let reason = format!("`{}` has no {what}", player.name);
        if !self.unknown.contains(&reason) {
            self.unknown.push(reason);
        }
    }
}

/// By how much a request grows when a judge is asked again: its answer, and what was wrong with it.
fn more_when_asked_again(judge: &PlannedJudge, max_tokens: u64) -> u64 {
    match (&judge.form, &judge.output) {
        (ReplyForm::Text | ReplyForm::Json, _) | (ReplyForm::Schema(_), None) => max_tokens.saturating_add(WORDS),
        (ReplyForm::Schema(_), Some(schema)) => {
            let finding = max_tokens.saturating_add(schema.to_json().len() as u64);
            max_tokens.saturating_add(finding.saturating_mul(FINDINGS)).saturating_add(WORDS)
        }
    }
}

/// The system prompt and the prompts of a question.
fn prompts(judge: &PlannedJudge, question: u32) -> (Option<&Prompt>, Vec<&Prompt>) {
    match judge.used.as_ref().and_then(|it| it.steps.get(question as usize)) {
        Some(step) => (step.system.as_ref(), vec![&step.prompt]),
        None => (judge.system.as_ref(), judge.prompt.prompts()),
    }
}

/// The request of a judge with its prompts as they were written.
fn template(judge: &PlannedJudge, question: u32, role: &Role) -> ModelRequest {
    let (system, prompts) = prompts(judge, question);
    let system = system.map(|it| Message::System(it.text().to_owned()));
    let prompts = prompts.into_iter().map(|it| Message::User(it.text().to_owned()));
    let messages: Messages = system.into_iter().chain(prompts).collect();
    let step = judge.used.as_ref().and_then(|it| it.steps.get(question as usize));
    let output = step.map(|it| it.output.clone()).or_else(|| judge.output.clone());
    ModelRequest { output, ..ModelRequest::new(role.clone(), messages) }
}
