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
//! `subject`, cases become `cases`, the evaluation profile becomes `evaluation`. What has no counterpart is reported. The program asks all models
//! through `OpenRouter`, so that is where they are asked; `script/…` and `exec/…` stay what they are.

mod case;
mod judging;
mod message;
mod tree;

use std::path::PathBuf;

use jurat_format::codes;
use jurat_format::field::{Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree, Unused};
use jurat_format::value::{Content, Entry, Node, SourceId, Span, Spanned};
use jurat_format::yaml::read_tree;

use crate::model::{Model, ModelSettings};
use crate::section::{Heading, lost as section};
use crate::text_file;

use case::{CASE, CASE_ID, TAGS, case};
use judging::evaluation_profile;
use tree::{entry, list, text};

const SUITE: Field<Spanned<String>> =
    Field::optional("suite", shape::TEXT, "the file of a suite: which models, which cases");
const CASES: Field<Vec<Spanned<String>>> = Field::required("cases", shape::TEXTS, "the files of cases");
const AGENTS: Field<Vec<Spanned<String>>> =
    Field::optional("agents", shape::TEXTS, "the files of agents, each beside its `workspace`");
const RUN_PROFILE: Field<Spanned<String>> = Field::optional("run_profile", shape::TEXT, "the file of a run profile");
const EVALUATION_PROFILE: Field<Spanned<String>> =
    Field::optional("evaluation_profile", shape::TEXT, "the file of an evaluation profile");

static CAMPAIGN: Object =
    Object { what: "`campaign`", keys: &[SUITE.key, CASES.key, AGENTS.key, RUN_PROFILE.key, EVALUATION_PROFILE.key] };

pub(crate) const HEADING: Heading = Heading::new(
    "campaign",
    Form::Object(&CAMPAIGN),
    "suite, cases and profiles in the file format of personal-agent-eval",
    &[section::Part::Task, section::Part::Case],
);

const FILTER: Shape<Filter> = Shape::new(Form::Object(&SELECTION), Filter::read);

const INCLUDE_CASE_IDS: Field<Vec<Spanned<String>>> =
    Field::optional("include_case_ids", shape::TEXTS, "cases that are always in").or_null();
const EXCLUDE_CASE_IDS: Field<Vec<Spanned<String>>> =
    Field::optional("exclude_case_ids", shape::TEXTS, "cases that are out").or_null();
const INCLUDE_TAGS: Field<Vec<Spanned<String>>> =
    Field::optional("include_tags", shape::TEXTS, "tags of cases that are in").or_null();
const EXCLUDE_TAGS: Field<Vec<Spanned<String>>> =
    Field::optional("exclude_tags", shape::TEXTS, "tags of cases that are out").or_null();

static SELECTION: Object = Object {
    what: "`case_selection`",
    keys: &[INCLUDE_CASE_IDS.key, EXCLUDE_CASE_IDS.key, INCLUDE_TAGS.key, EXCLUDE_TAGS.key],
};

const ASSIGNMENT_AGENT_ID: Field<Spanned<String>> = Field::required("agent_id", shape::TEXT, "the agent");
const ASSIGNMENT_CASE_SELECTION: Field<Filter> =
    Field::required("case_selection", FILTER, "the cases that it is given").or_null();

static ASSIGNMENT: Object =
    Object { what: "an assignment of an agent", keys: &[ASSIGNMENT_AGENT_ID.key, ASSIGNMENT_CASE_SELECTION.key] };

const AGENT_ASSIGNMENTS: Field<Tree> = Field::optional(
    "agent_assignments",
    shape::tree(const { Form::List(&Form::Object(&ASSIGNMENT)) }),
    "which agent is given which case",
)
.or_null();

static ASSIGNMENTS: Object = Object { what: "`openclaw` of a suite", keys: &[AGENT_ASSIGNMENTS.key] };

const SCHEMA_VERSION: Field<Unused> = Field::required("schema_version", shape::unused(Form::Integer(1)), "1").or_null();
const SUITE_ID: Field<Spanned<String>> = Field::required("suite_id", shape::TEXT, "its name");
const SUITE_TITLE: Field<String> = Field::optional("title", shape::STRING, "what it is for").or_null();
const SUITE_MODELS: Field<Tree> =
    Field::optional("models", shape::tree(Form::List(&Form::Map(&Form::Any))), "the models that are compared")
        .or_null();
const SUITE_CASE_SELECTION: Field<Filter> = Field::optional("case_selection", FILTER, "which cases").or_null();
const SUITE_OPENCLAW: Field<Tree> =
    Field::optional("openclaw", shape::tree(Form::Object(&ASSIGNMENTS)), "which agent is given which case").or_null();

static SUITE_FILE: Object = Object {
    what: "the suite of a campaign",
    keys: &[
        SCHEMA_VERSION.key,
        SUITE_ID.key,
        SUITE_TITLE.key,
        SUITE_MODELS.key,
        SUITE_CASE_SELECTION.key,
        SUITE_OPENCLAW.key,
        METADATA.key,
    ],
};

const MAX_CONCURRENCY: Field<Unused> =
    Field::optional("max_concurrency", shape::unused(Form::Integer(1)), "not used: set `-j`").or_null();
const RUN_REPETITIONS: Field<u32> =
    Field::optional("run_repetitions", shape::count::<1>(), "number of times to run each case").or_null();
const FAIL_FAST: Field<Unused> =
    Field::optional("fail_fast", shape::unused(Form::Boolean), "not used: set `--fail-fast`").or_null();
const STOP_ON_RUNNER_ERROR: Field<Unused> =
    Field::optional("stop_on_runner_error", shape::unused(Form::Boolean), "not used: the other cases always run")
        .or_null();

static POLICY: Object = Object {
    what: "`execution_policy`",
    keys: &[MAX_CONCURRENCY.key, RUN_REPETITIONS.key, FAIL_FAST.key, STOP_ON_RUNNER_ERROR.key],
};

const RUN_AGENT_ID: Field<Spanned<String>> =
    Field::optional("agent_id", shape::TEXT, "the agent of cases without one").or_null();
const RUN_IMAGE: Field<Tree> =
    Field::optional("image", shape::tree(Form::Text), "the container that it runs in").or_null();
const RUN_TIMEOUT_SECONDS: Field<Tree> =
    Field::optional("timeout_seconds", shape::tree(Form::Number(0.0, f64::INFINITY)), "how long it may take").or_null();
const RUN_DOCKER_CLI: Field<Tree> =
    Field::optional("docker_cli", shape::tree(Form::Text), "what makes the container").or_null();

static RUN_OPENCLAW: Object = Object {
    what: "`openclaw` of a run profile",
    keys: &[RUN_AGENT_ID.key, RUN_IMAGE.key, RUN_TIMEOUT_SECONDS.key, RUN_DOCKER_CLI.key],
};

const RUN_PROFILE_ID: Field<Unused> =
    Field::required("run_profile_id", shape::unused(Form::Text), "its name").or_null();
const PROFILE_TITLE: Field<Unused> = Field::optional("title", shape::unused(Form::Text), "what it is for").or_null();
const PROFILE_RUNNER_DEFAULTS: Field<Tree> =
    Field::optional("runner_defaults", shape::tree(Form::Map(&Form::Any)), "settings of all models").or_null();
const PROFILE_MODEL_OVERRIDES: Field<Tree> =
    Field::optional("model_overrides", shape::tree(Form::Map(&Form::Map(&Form::Any))), "settings of single models")
        .or_null();
const PROFILE_EXECUTION_POLICY: Field<Tree> =
    Field::optional("execution_policy", shape::tree(Form::Object(&POLICY)), "how cases are run").or_null();
const PROFILE_OPENCLAW: Field<Tree> =
    Field::optional("openclaw", shape::tree(Form::Object(&RUN_OPENCLAW)), "how agents are run").or_null();

static PROFILE_FILE: Object = Object {
    what: "a run profile",
    keys: &[
        SCHEMA_VERSION.key,
        RUN_PROFILE_ID.key,
        PROFILE_TITLE.key,
        PROFILE_RUNNER_DEFAULTS.key,
        PROFILE_MODEL_OVERRIDES.key,
        PROFILE_EXECUTION_POLICY.key,
        PROFILE_OPENCLAW.key,
        METADATA.key,
    ],
};

const AGENT_ID: Field<Spanned<String>> =
    Field::required("agent_id", shape::TEXT, "its name, which is that of its directory");
const AGENT_TITLE: Field<Unused> = Field::optional("title", shape::unused(Form::Text), "the name").or_null();
const AGENT_DESCRIPTION: Field<Unused> =
    Field::optional("description", shape::unused(Form::Text), "what it is for").or_null();
const AGENT_TAGS: Field<Unused> =
    Field::optional("tags", shape::unused(Form::List(&Form::Text)), "words for it").or_null();
const AGENT_OPENCLAW: Field<Tree> =
    Field::optional("openclaw", shape::tree(Form::Map(&Form::Any)), "parts of its configuration").or_null();

static AGENT_FILE: Object = Object {
    what: "an agent of a campaign",
    keys: &[
        SCHEMA_VERSION.key,
        AGENT_ID.key,
        AGENT_TITLE.key,
        AGENT_DESCRIPTION.key,
        AGENT_TAGS.key,
        METADATA.key,
        AGENT_OPENCLAW.key,
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
        let text = text_file::read(reading, &path, Some(file.span))?;
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
    fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Filter> {
        let fields = SELECTION.fields(reading, node)?;
        let mut texts = |field: &Field<Vec<Spanned<String>>>| fields.read(reading, field).unwrap_or_default();
        Some(Filter {
            include_ids: texts(&INCLUDE_CASE_IDS),
            exclude_ids: texts(&EXCLUDE_CASE_IDS),
            include_tags: texts(&INCLUDE_TAGS),
            exclude_tags: texts(&EXCLUDE_TAGS),
        })
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

/// A part of a campaign, in jurat's own form.
pub(crate) enum Part<'p, 'd> {
    Title {
        name: Option<Spanned<String>>,
        description: Option<String>,
        head: Span,
    },
    Repeat(Option<u32>),
    /// The subjects, and where they stand.
    Models(Span, Vec<Model>),
    Cases(&'p Node<'d>),
    /// The evaluation, and where it stands.
    Evaluation(&'p Node<'d>, Span),
}

/// Takes the parts of a campaign, in the order in which they are read.
type Add<'s> = &'s mut dyn FnMut(&mut Reading<'_>, Part<'_, '_>);

pub(crate) fn read(reading: &mut Reading<'_>, node: &Node<'_>, add: Add<'_>) {
    let Some(fields) = CAMPAIGN.fields(reading, node) else { return };
    let named = |reading: &mut Reading<'_>, field: &Field<Spanned<String>>| {
        let file = fields.read(reading, field)?;
        Document::open(reading, &file)
    };
    let all = |reading: &mut Reading<'_>, field: &Field<Vec<Spanned<String>>>| -> Vec<Document> {
        let files = fields.read(reading, field).unwrap_or_default();
        files.iter().filter_map(|it| Document::open(reading, it)).collect()
    };
    let (of_suite, of_run) = (named(reading, &SUITE), named(reading, &RUN_PROFILE));
    let of_evaluation = named(reading, &EVALUATION_PROFILE);
    let (of_agents, of_cases) = (all(reading, &AGENTS), all(reading, &CASES));

    let run = of_run.as_ref().and_then(|it| it.tree(reading));
    let profile = run.as_ref().map(|it| profile(reading, it, add)).unwrap_or_default();
    let agents: Vec<Node<'_>> = of_agents.iter().filter_map(|it| it.tree(reading)).collect();
    let agents: Vec<CampaignAgent<'_>> = agents.iter().filter_map(|it| agent(reading, it)).collect();
    let trees: Vec<Node<'_>> = of_cases.iter().filter_map(|it| it.tree(reading)).collect();
    let mut cases: Vec<(Spanned<String>, Vec<String>, Fields<'_, '_>)> = Vec::new();
    for tree in &trees {
        let Some(fields) = CASE.fields(reading, tree) else { continue };
        let Some(id) = fields.read(reading, &CASE_ID) else { continue };
        if let Some((first, ..)) = cases.iter().find(|(it, ..)| it.value == id.value) {
            let problem = Problem::new(&codes::DUPLICATE_ID, format!("there are two cases `{}`", id.value));
            reading.problem(problem.at(id.span, "again here").at(first.span, "first here").help("rename one of them"));
            continue;
        }
        let tags = fields.read(reading, &TAGS).unwrap_or_default();
        let tags = tags.into_iter().map(|it| it.value.trim().to_owned()).filter(|it| !it.is_empty()).collect();
        cases.push((id, tags, fields));
    }
    let known: Vec<String> = cases.iter().map(|(it, ..)| it.value.clone()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let tree = of_suite.as_ref().and_then(|it| it.tree(reading));
    let (filter, assignments) = match &tree {
        Some(tree) => read_suite(reading, tree, &profile, add),
        None => (Filter::default(), Vec::new()),
    };
    filter.examine(reading, &known);
    assignments.iter().for_each(|(_, it)| it.examine(reading, &known));
    cases.sort_by(|(left, ..), (right, ..)| left.value.cmp(&right.value));
    for (id, tags, fields) in cases.iter().filter(|(id, tags, _)| filter.has(&id.value, tags)) {
        let assigned = assignments.iter().find(|(_, it)| it.has(&id.value, tags)).map(|(it, _)| it);
        let converted = case(reading, fields, &profile, assigned.or(profile.agent.as_ref()), &agents);
        if let Some(node) = converted {
            add(reading, Part::Cases(&list(node.span, vec![node])));
        }
    }
    if let Some(document) = &of_evaluation
        && let Some(tree) = document.tree(reading)
    {
        let node = evaluation_profile(reading, document, &tree);
        add(reading, Part::Evaluation(&node, tree.span));
    }
}

fn unused(reading: &mut Reading<'_>, span: Span, what: impl Into<String>, instead: &str) {
    let problem = Problem::new(&codes::UNUSED_SETTING, what).at(span, "not used");
    reading.problem(problem.help(instead));
}

fn profile<'d>(reading: &mut Reading<'_>, tree: &Node<'d>, add: Add<'_>) -> Profile<'d> {
    let mut profile = Profile::default();
    let Some(fields) = PROFILE_FILE.fields(reading, tree) else { return profile };
    let entries = |key: &Field<Tree>| fields.node(key).and_then(|it| it.entries()).unwrap_or(&[]).to_vec();
    (profile.defaults, profile.overrides) = (entries(&PROFILE_RUNNER_DEFAULTS), entries(&PROFILE_MODEL_OVERRIDES));
    if let Some(policy) = fields.node(&PROFILE_EXECUTION_POLICY).and_then(|it| POLICY.fields(reading, it)) {
        let repeat = policy.read(reading, &RUN_REPETITIONS);
        add(reading, Part::Repeat(repeat));
        let others = [
            (MAX_CONCURRENCY, "`-j` says how much is done at a time"),
            (FAIL_FAST, "`--fail-fast` stops at the first case that fails"),
            (STOP_ON_RUNNER_ERROR, "a case that could not be run is an error, and the others still run"),
        ];
        for (key, instead) in others {
            if let Some(span) = policy.key_span(&key).filter(|_| policy.node(&key).is_some()) {
                unused(reading, span, format!("`{}` of a run profile is not used", key.name()), instead);
            }
        }
    }
    if let Some(openclaw) = fields.node(&PROFILE_OPENCLAW).and_then(|it| RUN_OPENCLAW.fields(reading, it)) {
        profile.agent = openclaw.read(reading, &RUN_AGENT_ID);
        profile.image = openclaw.node(&RUN_IMAGE).cloned();
        profile.engine = openclaw.node(&RUN_DOCKER_CLI).cloned();
        profile.time = openclaw.node(&RUN_TIMEOUT_SECONDS).cloned();
    }
    profile
}

/// An agent: its name, where its file stands, and parts of its configuration.
struct CampaignAgent<'d> {
    id: Spanned<String>,
    span: Span,
    config: Option<Node<'d>>,
}

fn agent<'d>(reading: &mut Reading<'_>, tree: &Node<'d>) -> Option<CampaignAgent<'d>> {
    let fields = AGENT_FILE.fields(reading, tree)?;
    let id = fields.read(reading, &AGENT_ID)?;
    let folder = reading.source(tree.span);
    let folder = folder.parent().and_then(|it| it.file_name()).map(|it| it.to_string_lossy().into_owned());
    if folder.as_ref().is_some_and(|it| *it != id.value) {
        let message = format!("the agent `{}` stands in the directory `{}`", id.value, folder.unwrap_or_default());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(id.span, "must be the directory's name");
        reading.problem(problem.help("rename one of them"));
    }
    let config = fields.node(&AGENT_OPENCLAW).cloned().map(|mut config| {
        if let Content::Map(entries) = &mut config.content {
            entries.retain(|it| !it.value.is_null());
        }
        config
    });
    Some(CampaignAgent { id, span: tree.span, config })
}

type Assignments = Vec<(Spanned<String>, Filter)>;

fn read_suite(
    reading: &mut Reading<'_>,
    tree: &Node<'_>,
    profile: &Profile<'_>,
    add: Add<'_>,
) -> (Filter, Assignments) {
    let Some(fields) = SUITE_FILE.fields(reading, tree) else { return Default::default() };
    let (name, description) = (fields.read(reading, &SUITE_ID), fields.read(reading, &SUITE_TITLE));
    add(reading, Part::Title { name, description, head: fields.head() });
    let models = fields.node(&SUITE_MODELS).map(|it| reading.list(&SUITE_MODELS.quoted(), "a list of models", it));
    let models: Vec<Model> = models.unwrap_or_default().iter().filter_map(|it| model(reading, it, profile)).collect();
    if !models.is_empty() {
        let at = fields.key_span(&SUITE_MODELS).unwrap_or(fields.span);
        add(reading, Part::Models(at, models));
    }
    let filter = fields.read(reading, &SUITE_CASE_SELECTION).unwrap_or_default();
    let mut assignments = Vec::new();
    let openclaw = fields.node(&SUITE_OPENCLAW).and_then(|it| ASSIGNMENTS.fields(reading, it));
    let items = openclaw.as_ref().and_then(|it| it.node(&AGENT_ASSIGNMENTS));
    for item in
        items.map(|it| reading.list(&AGENT_ASSIGNMENTS.quoted(), "a list of assignments", it)).unwrap_or_default()
    {
        let Some(fields) = ASSIGNMENT.fields(reading, item) else { continue };
        let agent = fields.read(reading, &ASSIGNMENT_AGENT_ID);
        let filter = fields.read(reading, &ASSIGNMENT_CASE_SELECTION).unwrap_or_default();
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
    let params = node.get("primary_params").and_then(Node::entries).unwrap_or(&[]);
    for entry in params.iter().filter(|it| !SETTINGS.contains(&&*it.key)) {
        let message = format!("`{}` of `primary_params` of a model is not used", entry.key);
        unused(reading, entry.key_span, message, "`primary_params` of an agent has settings of its requests");
    }
    let mut settings: Vec<&Entry<'_>> = Vec::new();
    for entry in profile.defaults.iter().chain(own).chain(params).filter(|it| SETTINGS.contains(&&*it.key)) {
        settings.retain(|it| it.key != entry.key);
        settings.push(entry);
    }
    for entry in own.iter().filter(|it| !SETTINGS.contains(&&*it.key)) {
        let message = format!("`{}` of a single model is not used", entry.key);
        unused(reading, entry.key_span, message, "limits are those of a case or of all: `runner_defaults`");
    }
    let (model, gateway) = asked(&named, node.span);
    let mut read = ModelSettings::default();
    for Entry { key, value, .. } in settings.into_iter().chain(&gateway) {
        read.read(reading, key, value);
    }
    Some(Model { model: Spanned::new(model, node.span), settings: read })
}

/// A model as the program asks it, and the settings that say where.
fn asked<'d>(named: &str, span: Span) -> (String, Vec<Entry<'d>>) {
    match named.starts_with("script/") || named.starts_with("exec/") {
        true => (named.to_owned(), Vec::new()),
        false => {
            let gateway = GATEWAY.map(|(key, value)| entry(key, text(span, value)));
            (format!("openai/{named}"), gateway.into())
        }
    }
}
