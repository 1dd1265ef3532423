//! `campaign`: a suite with its cases and profiles, in the files of another program.
//!
//! ```yaml
//! campaign:
//!   suite: suites/weekly.yaml
//!   cases: [cases/report/test.yaml]
//!   run_profile: run_profiles/fast.yaml
//!   evaluation_profile: evaluation_profiles/strict.yaml
//! ```
//!
//! Each file is read as it is, and becomes what the same would be in jurat's own form, with the places where it stands: models become the role
//! `subject`, cases become `cases`, the evaluation profile becomes `evaluation`. What has no counterpart is told in words. The program asks all models
//! through `OpenRouter`, so that is where they are asked; `script/…` and `exec/…` stay what they are.

mod case;
mod judging;
mod message;
mod tree;

use std::path::PathBuf;

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Entry, Node, SourceId, Span, Spanned, Val, Value};
use jurat_format::yaml::read_tree;

use crate::suite::models::{Model, Role};
use crate::suite::{SUBJECT, Suite, agent_cases, evaluation};

use case::{CASE, case};
use judging::evaluation_profile;
use tree::list;

static CAMPAIGN: Keys = Keys {
    what: "`campaign`",
    keys: &[
        Key::optional("suite", Form::Text, "the file of a suite: which models, which cases"),
        Key::required("cases", Form::List(&Form::Text), "the files of cases"),
        Key::optional("agents", Form::List(&Form::Text), "the files of agents, each beside its `workspace`"),
        Key::optional("run_profile", Form::Text, "the file of a run profile"),
        Key::optional("evaluation_profile", Form::Text, "the file of an evaluation profile"),
    ],
};

pub(crate) const FORM: Form = Form::Object(&CAMPAIGN);

static SELECTION: Keys = Keys {
    what: "`case_selection`",
    keys: &[
        Key::optional("include_case_ids", Form::List(&Form::Text), "cases that are always in"),
        Key::optional("exclude_case_ids", Form::List(&Form::Text), "cases that are out"),
        Key::optional("include_tags", Form::List(&Form::Text), "tags of cases that are in"),
        Key::optional("exclude_tags", Form::List(&Form::Text), "tags of cases that are out"),
    ],
};

static ASSIGNMENT: Keys = Keys {
    what: "an assignment of an agent",
    keys: &[
        Key::required("agent_id", Form::Text, "the agent"),
        Key::required("case_selection", Form::Object(&SELECTION), "the cases that it is given"),
    ],
};

static ASSIGNMENTS: Keys = Keys {
    what: "`openclaw` of a suite",
    keys: &[Key::optional(
        "agent_assignments",
        Form::List(&Form::Object(&ASSIGNMENT)),
        "which agent is given which case",
    )],
};

static SUITE: Keys = Keys {
    what: "the suite of a campaign",
    keys: &[
        Key::required("schema_version", Form::Integer(1), "1"),
        Key::required("suite_id", Form::Text, "its name"),
        Key::optional("title", Form::Text, "what it is for"),
        Key::optional("models", Form::List(&Form::Map(&Form::Any)), "the models that are compared"),
        Key::optional("case_selection", Form::Object(&SELECTION), "which cases"),
        Key::optional("openclaw", Form::Object(&ASSIGNMENTS), "which agent is given which case"),
        Key::METADATA,
    ],
};

static POLICY: Keys = Keys {
    what: "`execution_policy`",
    keys: &[
        Key::optional("max_concurrency", Form::Integer(1), "not used: `-j` says it"),
        Key::optional("run_repetitions", Form::Integer(1), "how often each case is run"),
        Key::optional("fail_fast", Form::Boolean, "not used: `--fail-fast` says it"),
        Key::optional("stop_on_runner_error", Form::Boolean, "not used: the other cases go on"),
    ],
};

static RUN_OPENCLAW: Keys = Keys {
    what: "`openclaw` of a run profile",
    keys: &[
        Key::optional("agent_id", Form::Text, "the agent of cases that nobody is assigned to"),
        Key::optional("image", Form::Text, "the container that it runs in"),
        Key::optional("timeout_seconds", Form::Number(0.0, f64::INFINITY), "how long it may take"),
        Key::optional("docker_cli", Form::Text, "what makes the container"),
    ],
};

static RUN_PROFILE: Keys = Keys {
    what: "a run profile",
    keys: &[
        Key::required("schema_version", Form::Integer(1), "1"),
        Key::required("run_profile_id", Form::Text, "its name"),
        Key::optional("title", Form::Text, "what it is for"),
        Key::optional("runner_defaults", Form::Map(&Form::Any), "settings of all models"),
        Key::optional("model_overrides", Form::Map(&Form::Map(&Form::Any)), "settings of single models"),
        Key::optional("execution_policy", Form::Object(&POLICY), "how cases are run"),
        Key::optional("openclaw", Form::Object(&RUN_OPENCLAW), "how agents are run"),
        Key::METADATA,
    ],
};

static AGENT: Keys = Keys {
    what: "an agent of a campaign",
    keys: &[
        Key::required("schema_version", Form::Integer(1), "1"),
        Key::required("agent_id", Form::Text, "its name, which is that of its directory"),
        Key::optional("title", Form::Text, "what it is called"),
        Key::optional("description", Form::Text, "what it is for"),
        Key::optional("tags", Form::List(&Form::Text), "words for it"),
        Key::METADATA,
        Key::optional("openclaw", Form::Map(&Form::Any), "parts of its configuration"),
    ],
};

/// Where the program asks its models.
const GATEWAY: [(&str, &str); 2] =
    [("base_url", "https://openrouter.ai/api/v1"), ("api_key_env", "OPENROUTER_API_KEY")];
/// Settings that are a model's.
const SETTINGS: [&str; 4] = ["temperature", "top_p", "max_tokens", "seed"];
/// Settings that bound a run, and what they are called in `limits`.
const LIMITS: [(&str, &str); 2] = [("max_turns", "turns"), ("timeout_seconds", "time")];

/// One file.
struct Document {
    text: String,
    source: SourceId,
    path: PathBuf,
}

impl Document {
    fn open(reading: &mut Reading<'_>, file: &Spanned<String>) -> Option<Document> {
        let path = reading.beside(file.span, &file.value);
        let text = crate::suite::load::read_text(reading, &path, Some(file.span))?;
        let source = reading.sources.add(&path, text.clone());
        Some(Document { text, source, path })
    }

    fn tree(&self, reading: &mut Reading<'_>) -> Option<Node<'_>> {
        let is_json = self.path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
        let mut problems = Vec::new();
        let node = read_tree(&self.text, self.source, is_json, &mut problems);
        reading.problems.extend(problems);
        node
    }
}

/// What a run profile says.
#[derive(Default)]
struct Profile<'d> {
    defaults: Vec<Entry<'d>>,
    overrides: Vec<Entry<'d>>,
    agent: Option<Spanned<String>>,
    image: Option<Node<'d>>,
    engine: Option<Node<'d>>,
    time: Option<Node<'d>>,
}

/// Which cases.
#[derive(Default)]
struct Filter {
    include_ids: Vec<Spanned<String>>,
    exclude_ids: Vec<Spanned<String>>,
    include_tags: Vec<Spanned<String>>,
    exclude_tags: Vec<Spanned<String>>,
}

impl Filter {
    fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Filter {
        let Some(fields) = Fields::read(reading, &SELECTION, node) else { return Filter::default() };
        let mut texts =
            |name: &str| fields.given(name).map(|it| reading.texts(&format!("`{name}`"), it)).unwrap_or_default();
        Filter {
            include_ids: texts("include_case_ids"),
            exclude_ids: texts("exclude_case_ids"),
            include_tags: texts("include_tags"),
            exclude_tags: texts("exclude_tags"),
        }
    }

    /// Whether a case is in. One that is named is in, whatever excludes it; beside named ones others come in by their tags only.
    fn has(&self, id: &str, tags: &[String]) -> bool {
        let named = |all: &[Spanned<String>]| all.iter().any(|it| it.value == id);
        let tagged = |all: &[Spanned<String>]| all.iter().any(|it| tags.contains(&it.value));
        if named(&self.include_ids) {
            return true;
        }
        let comes_in = match (self.include_ids.is_empty(), self.include_tags.is_empty()) {
            (true, true) => true,
            (false, true) => false,
            (_, false) => tagged(&self.include_tags),
        };
        comes_in && !named(&self.exclude_ids) && !tagged(&self.exclude_tags)
    }

    /// Ids that no case has.
    fn examine(&self, reading: &mut Reading<'_>, known: &[&str]) {
        for id in self.include_ids.iter().chain(&self.exclude_ids).filter(|it| !known.contains(&it.value.as_str())) {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("there is no case `{}`", id.value));
            let problem = problem.at(id.span, "unknown case").did_you_mean(&id.value, known.iter().copied());
            reading.problem(problem.help(format!("the cases are {}", listed_all(known.iter().copied()))));
        }
    }
}

pub(crate) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>) {
    let n_before = reading.n_errors();
    let Some(fields) = Fields::read(reading, &CAMPAIGN, node) else { return suite.lost.file() };
    let named = |reading: &mut Reading<'_>, key: &str| {
        let file = fields.get(key).and_then(|it| reading.text(&format!("`{key}`"), it))?;
        Document::open(reading, &file)
    };
    let all = |reading: &mut Reading<'_>, key: &str| -> Vec<Document> {
        let files = fields.get(key).map(|it| reading.texts(&format!("`{key}`"), it)).unwrap_or_default();
        files.iter().filter_map(|it| Document::open(reading, it)).collect()
    };
    let (of_suite, of_run) = (named(reading, "suite"), named(reading, "run_profile"));
    let of_evaluation = named(reading, "evaluation_profile");
    let (of_agents, of_cases) = (all(reading, "agents"), all(reading, "cases"));

    let run = of_run.as_ref().and_then(|it| it.tree(reading));
    let profile = run.as_ref().map(|it| profile(reading, suite, it)).unwrap_or_default();
    let agents: Vec<Node<'_>> = of_agents.iter().filter_map(|it| it.tree(reading)).collect();
    let agents: Vec<PeerAgent<'_>> = agents.iter().filter_map(|it| agent(reading, it)).collect();
    let trees: Vec<Node<'_>> = of_cases.iter().filter_map(|it| it.tree(reading)).collect();
    let mut cases: Vec<(Spanned<String>, Vec<String>, Fields<'_, '_>)> = Vec::new();
    for tree in &trees {
        let Some(fields) = Fields::read(reading, &CASE, tree) else { continue };
        let Some(id) = fields.get("case_id").and_then(|it| reading.text("`case_id`", it)) else { continue };
        if let Some((first, ..)) = cases.iter().find(|(it, ..)| it.value == id.value) {
            let problem = Problem::new(&codes::DUPLICATE_ID, format!("there are two cases `{}`", id.value));
            reading.problem(problem.at(id.span, "again here").at(first.span, "first here").help("rename one of them"));
            continue;
        }
        let tags = fields.given("tags").map(|it| reading.texts("`tags`", it)).unwrap_or_default();
        let tags = tags.into_iter().map(|it| it.value.trim().to_owned()).filter(|it| !it.is_empty()).collect();
        cases.push((id, tags, fields));
    }
    let known: Vec<String> = cases.iter().map(|(it, ..)| it.value.clone()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let tree = of_suite.as_ref().and_then(|it| it.tree(reading));
    let (filter, assignments) = match &tree {
        Some(tree) => read_suite(reading, suite, tree, &profile),
        None => (Filter::default(), Vec::new()),
    };
    filter.examine(reading, &known);
    assignments.iter().for_each(|(_, it)| it.examine(reading, &known));
    cases.sort_by(|(left, ..), (right, ..)| left.value.cmp(&right.value));
    for (id, tags, fields) in cases.iter().filter(|(id, tags, _)| filter.has(&id.value, tags)) {
        let assigned = assignments.iter().find(|(_, it)| it.has(&id.value, tags)).map(|(it, _)| it);
        let converted = case(reading, fields, &profile, assigned.or(profile.agent.as_ref()), &agents);
        if let Some(node) = converted {
            agent_cases::read(reading, suite, &list(node.span, vec![node]));
        }
    }
    if let Some(document) = &of_evaluation
        && let Some(tree) = document.tree(reading)
    {
        let node = evaluation_profile(reading, document, &tree);
        evaluation::read(reading, suite, &node, tree.span, true);
    }
    if reading.n_errors() > n_before {
        suite.lost.file();
    }
}

fn unused(reading: &mut Reading<'_>, span: Span, what: impl Into<String>, instead: &str) {
    let problem = Problem::new(&codes::UNUSED_SETTING, what).at(span, "not used");
    reading.problem(problem.help(instead));
}

fn profile<'d>(reading: &mut Reading<'_>, suite: &mut Suite, tree: &Node<'d>) -> Profile<'d> {
    let mut profile = Profile::default();
    let Some(fields) = Fields::read(reading, &RUN_PROFILE, tree) else { return profile };
    let entries = |name: &str| fields.given(name).and_then(|it| it.entries()).unwrap_or(&[]).to_vec();
    (profile.defaults, profile.overrides) = (entries("runner_defaults"), entries("model_overrides"));
    if let Some(policy) = fields.given("execution_policy").and_then(|it| Fields::read(reading, &POLICY, it)) {
        suite.repeat = policy.given("run_repetitions").and_then(|it| reading.count("`run_repetitions`", 1, it));
        let others = [
            ("max_concurrency", "`-j` says how much is done at a time"),
            ("fail_fast", "`--fail-fast` stops at the first case that fails"),
            ("stop_on_runner_error", "a case that could not be run is an error, and the others go on"),
        ];
        for (name, instead) in others {
            if let Some(span) = policy.key_span(name).filter(|_| policy.given(name).is_some()) {
                unused(reading, span, format!("`{name}` of a run profile is not used"), instead);
            }
        }
    }
    if let Some(openclaw) = fields.given("openclaw").and_then(|it| Fields::read(reading, &RUN_OPENCLAW, it)) {
        profile.agent = openclaw.given("agent_id").and_then(|it| reading.text("`agent_id`", it));
        profile.image = openclaw.given("image").cloned();
        profile.engine = openclaw.given("docker_cli").cloned();
        profile.time = openclaw.given("timeout_seconds").cloned();
    }
    profile
}

/// An agent: its name, where its file stands, and parts of its configuration.
struct PeerAgent<'d> {
    id: Spanned<String>,
    span: Span,
    config: Option<Node<'d>>,
}

fn agent<'d>(reading: &mut Reading<'_>, tree: &Node<'d>) -> Option<PeerAgent<'d>> {
    let fields = Fields::read(reading, &AGENT, tree)?;
    let id = fields.get("agent_id").and_then(|it| reading.text("`agent_id`", it))?;
    let folder = reading.source(tree.span);
    let folder = folder.parent().and_then(|it| it.file_name()).map(|it| it.to_string_lossy().into_owned());
    if folder.as_ref().is_some_and(|it| *it != id.value) {
        let message = format!("the agent `{}` stands in the directory `{}`", id.value, folder.unwrap_or_default());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(id.span, "must be the directory's name");
        reading.problem(problem.help("rename one of them"));
    }
    let config = fields.given("openclaw").cloned().map(|mut config| {
        if let Content::Map(entries) = &mut config.content {
            entries.retain(|it| !it.value.is_null());
        }
        config
    });
    Some(PeerAgent { id, span: tree.span, config })
}

type Assignments = Vec<(Spanned<String>, Filter)>;

fn read_suite(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    tree: &Node<'_>,
    profile: &Profile<'_>,
) -> (Filter, Assignments) {
    let Some(fields) = Fields::read(reading, &SUITE, tree) else { return Default::default() };
    suite.name = fields.get("suite_id").and_then(|it| reading.text("`suite_id`", it));
    suite.description = fields.given("title").and_then(|it| reading.text("`title`", it)).map(|it| it.value);
    suite.head = Some(fields.head());
    let models = fields.given("models").map(|it| reading.list("`models`", "a list of models", it));
    let models: Vec<Model> = models.unwrap_or_default().iter().filter_map(|it| model(reading, it, profile)).collect();
    if !models.is_empty() {
        let at = fields.key_span("models").unwrap_or(fields.span);
        suite.models.push(Role { name: Spanned::new(SUBJECT.to_owned(), at), models });
    }
    let filter = fields.given("case_selection").map(|it| Filter::read(reading, it)).unwrap_or_default();
    let mut assignments = Vec::new();
    let openclaw = fields.given("openclaw").and_then(|it| Fields::read(reading, &ASSIGNMENTS, it));
    let items = openclaw.as_ref().and_then(|it| it.given("agent_assignments"));
    for item in items.map(|it| reading.list("`agent_assignments`", "a list of assignments", it)).unwrap_or_default() {
        let Some(fields) = Fields::read(reading, &ASSIGNMENT, item) else { continue };
        let agent = fields.get("agent_id").and_then(|it| reading.text("`agent_id`", it));
        let filter = fields.given("case_selection").map(|it| Filter::read(reading, it)).unwrap_or_default();
        if filter.include_ids.is_empty() && filter.include_tags.is_empty() {
            let problem = Problem::new(&codes::MISSING_KEY, "an assignment needs an include filter");
            reading.problem(problem.at(item.span, "for which cases?").help("add `include_case_ids` or `include_tags`"));
        }
        assignments.extend(agent.map(|it| (it, filter)));
    }
    (filter, assignments)
}

/// A model of the suite, with the settings of the run profile.
fn model(reading: &mut Reading<'_>, node: &Node<'_>, profile: &Profile<'_>) -> Option<Model> {
    let text = |key: &str| node.get(key).and_then(Node::as_str).filter(|it| !it.is_empty());
    let named = match (text("requested_model").or_else(|| text("openrouter_model")), text("model_name")) {
        (Some(model), _) => Some(model.to_owned()),
        (None, Some(name)) if name.contains('/') => Some(name.to_owned()),
        (None, Some(name)) => Some(text("provider").map_or_else(|| name.to_owned(), |it| format!("{it}/{name}"))),
        (None, None) => text("model_id").map(str::to_owned),
    };
    let Some(named) = named else {
        let problem = Problem::new(&codes::MISSING_KEY, "a model needs `requested_model`, `model_name` or `model_id`");
        reading.problem(problem.at(node.span, "which model?"));
        return None;
    };
    let own = profile.overrides.iter().find(|it| text("model_id") == Some(&*it.key));
    let own = own.and_then(|it| it.value.entries()).unwrap_or(&[]);
    let mut settings: Vec<(&'static str, Spanned<Value>)> = Vec::new();
    let params = node.get("primary_params").and_then(Node::entries).unwrap_or(&[]);
    for entry in params.iter().filter(|it| !SETTINGS.contains(&&*it.key)) {
        let message = format!("`{}` of `primary_params` of a model is not used", entry.key);
        unused(reading, entry.key_span, message, "`primary_params` of an agent has settings of its requests");
    }
    for entry in profile.defaults.iter().chain(own).chain(params) {
        if let Some(name) = SETTINGS.iter().find(|it| **it == &*entry.key) {
            settings.retain(|(it, _)| it != name);
            settings.push((name, Spanned::new(entry.value.to_val().into_owned(), entry.value.span)));
        }
    }
    for entry in own.iter().filter(|it| !SETTINGS.contains(&&*it.key)) {
        let message = format!("`{}` of a single model is not used", entry.key);
        unused(reading, entry.key_span, message, "limits are those of a case or of all: `runner_defaults`");
    }
    Some(asked(Spanned::new(named, node.span), settings))
}

/// A model as the program asks it.
fn asked(named: Spanned<String>, mut settings: Vec<(&'static str, Spanned<Value>)>) -> Model {
    let is_own = named.value.starts_with("script/") || named.value.starts_with("exec/");
    if is_own {
        return Model { model: named, settings };
    }
    settings.extend(GATEWAY.map(|(key, value)| (key, Spanned::new(Val::from(value), named.span))));
    Model { model: Spanned::new(format!("openai/{}", named.value), named.span), settings }
}
