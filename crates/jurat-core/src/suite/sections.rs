//! The sections of a definition: one entry each. A new section is a file of its own and a line in [`SECTIONS`].

use std::collections::{HashMap, HashSet};

use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Content, Node, Span, Spanned, Val};
use jurat_format::{codes, id};

use super::task::read_id;
use super::{
    Records, RowSource, Suite, agent_cases, agents, ask, deterministic_checks, evaluation, evaluators, models, records,
    rubric, scenario, task, template, tools,
};
use crate::compat::personal_agent_eval as campaign;
use crate::verdict::thresholds;

/// A key of the top level and what becomes of its value.
struct Section {
    key: Key,
    read: fn(&mut Reading<'_>, &mut Suite, At<'_, '_>),
}

/// Where a section stands.
struct At<'n, 'a> {
    node: &'n Node<'a>,
    key_span: Span,
    /// Whether it stands in the file that was named, not in one that it includes.
    is_main: bool,
}

/// Read elsewhere, or not at all.
fn nothing(_: &mut Reading<'_>, _: &mut Suite, _: At<'_, '_>) {}

const fn section(key: Key, read: fn(&mut Reading<'_>, &mut Suite, At<'_, '_>)) -> Section {
    Section { key, read }
}

const fn reserved(name: &'static str, doc: &'static str) -> Section {
    Section { key: Key::reserved(name, doc), read: nothing }
}

static SECTIONS: [Section; 23] = [
    section(Key::optional("suite", Form::Text, "the name of the suite"), |reading, suite, at| {
        let name = reading.text("`suite`", at.node);
        suite.name = if at.is_main { name } else { suite.name.take() };
    }),
    section(
        Key::optional("description", Form::Text, "what the suite is for; shown in reports"),
        |reading, suite, at| {
            let text = reading.text("`description`", at.node).map(|it| it.value);
            suite.description = if at.is_main { text } else { suite.description.take() };
        },
    ),
    section(
        Key::optional("include", Form::List(&Form::Text), "suite files whose sections are added to this one"),
        nothing,
    ),
    section(Key::optional("models", models::FORM, "the model for each role"), read_models),
    section(Key::optional("tools", tools::FORM, "tool servers (MCP) that models may call"), read_tools),
    section(
        Key::optional(
            "records",
            records::FORM,
            "the rows to evaluate: files, `-` for standard input, or the rows themselves",
        ),
        |reading, suite, at| {
            let records = records::read(reading, at.node);
            suite.lost.cases |= records.is_none();
            let reads_input = |it: &Records| it.from == RowSource::StandardInput;
            if records.as_ref().is_some_and(reads_input) && suite.records.iter().any(reads_input) {
                let message = "standard input is read by another file of this suite already";
                let problem = Problem::new(&codes::CONFLICT, message).at(at.node.span, "again here");
                reading.problem(problem.help("it can be read once; put the rows into a file"));
            }
            suite.records.extend(records);
        },
    ),
    section(
        Key::optional("ask", ask::FORM, "asks a model, the subject, about each row; the tasks judge its answers"),
        read_ask,
    ),
    section(
        Key::optional("templates", const { Form::Map(&template::FORM) }, "answer templates that scenarios use by name"),
        |reading, suite, at| {
            let named = named(reading, "templates", at.node, template::read);
            suite.lost.templates |= at.node.entries().is_none();
            suite.lost.template_names.extend(named.lost);
            add_new(reading, "the template", &mut suite.templates, named.read);
        },
    ),
    section(
        Key::optional("rubrics", const { Form::Map(&rubric::FORM) }, "rubrics that scenarios use by name"),
        |reading, suite, at| {
            let named = named(reading, "rubrics", at.node, rubric::read);
            suite.lost.rubrics |= at.node.entries().is_none();
            suite.lost.rubric_names.extend(named.lost);
            add_new(reading, "the rubric", &mut suite.rubrics, named.read);
        },
    ),
    section(
        Key::optional("scenarios", scenario::FORM, "conversations along a graph, by name or as a list"),
        |reading, suite, at| scenario::read(reading, suite, at.node),
    ),
    section(
        Key::optional("evaluators", evaluators::FORM, "evaluators by name: your code, or built-in ones such as BLEU"),
        |reading, suite, at| evaluators::read(reading, suite, at.node),
    ),
    section(
        Key::optional(
            "tasks",
            const { Form::List(&Form::Object(&task::TASK)) },
            "what is judged; tasks may depend on each other",
        ),
        read_tasks,
    ),
    section(
        Key::optional(
            "deterministic_checks",
            deterministic_checks::ENTRIES,
            "checks in the form of personal-agent-eval; each becomes a task",
        ),
        |reading, suite, at| {
            suite.lost.tasks |= at.node.as_list().is_none();
            for item in reading.list("`deterministic_checks`", "a list of checks", at.node) {
                keep_task(suite, deterministic_checks::read_entry(reading, item));
            }
        },
    ),
    section(
        Key::optional("dimensions", Form::List(&Form::Id), "names of dimensions beyond the built-in ones"),
        |reading, suite, at| {
            let n_before = reading.n_errors();
            let items = reading.list("`dimensions`", "a list of names", at.node);
            let names: Vec<_> = items.iter().filter_map(|it| read_id(reading, "a dimension", it)).collect();
            suite.lost.dimensions |= reading.n_errors() > n_before;
            suite.dimensions.extend(names);
        },
    ),
    section(
        Key::optional("group_by", Form::List(&Form::Path), "paths; the summary has one line per value found there"),
        |reading, suite, at| {
            let items = reading.list("`group_by`", "a list of paths", at.node);
            let paths: Vec<_> = items.iter().filter_map(|it| reading.path("a path in `group_by`", it)).collect();
            suite.group_by.extend(paths);
        },
    ),
    section(
        Key::optional("thresholds", Form::Object(&thresholds::THRESHOLDS), "what the run must reach to pass"),
        |reading, suite, at| thresholds::read(reading, &mut suite.thresholds, at.node),
    ),
    section(Key::optional("agents", agents::FORM, "agents by name"), read_agents),
    section(Key::optional("cases", agent_cases::FORM, "cases for agents"), |reading, suite, at| {
        agent_cases::read(reading, suite, at.node);
    }),
    section(
        Key::optional("evaluation", evaluation::FORM, "judges that score agent runs by dimension"),
        |reading, suite, at| evaluation::read(reading, suite, at.node, at.key_span, at.is_main),
    ),
    section(
        Key::optional(
            "security_policy",
            Form::Object(&SECURITY_POLICY),
            "which code may run; only the one in the main file counts, not those of included files",
        ),
        |reading, suite, at| {
            let Some(fields) = SECURITY_POLICY.fields(reading, at.node) else { return };
            let allows = fields.value(reading, &ALLOWS_HOOKS);
            // A library that is included must not allow what the suite does not.
            suite.allows_hooks = if at.is_main { allows } else { suite.allows_hooks };
        },
    ),
    section(
        Key::optional(
            "campaign",
            campaign::FORM,
            "suite, cases and profiles in the file format of personal-agent-eval",
        ),
        |reading, suite, at| campaign::read(reading, suite, at.node),
    ),
    reserved("limits", "limits of a run"),
    reserved("python", "the Python that runs hooks"),
];

pub(super) static SUITE: Object = Object { what: "a suite", keys: &KEYS };

static KEYS: [Key; SECTIONS.len()] = {
    let mut keys = [SECTIONS[0].key; SECTIONS.len()];
    let mut ix = 0;
    while ix < keys.len() {
        keys[ix] = SECTIONS[ix].key;
        ix += 1;
    }
    keys
};

/// Reads the sections of one file into the suite.
pub(super) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, suite: &mut Suite, is_main: bool) {
    if is_main {
        suite.head = Some(fields.head());
    }
    for section in &SECTIONS {
        if let Some(node) = fields.get(section.key.name) {
            let key_span = fields.key_span(section.key.name).unwrap_or(node.span);
            (section.read)(reading, suite, At { node, key_span, is_main });
        }
    }
    // Scenarios and cases bring their own tasks.
    let other_cases = fields.may_mean("campaign") || fields.may_mean("cases") || fields.may_mean("scenarios");
    let lost = &mut suite.lost;
    lost.tasks |= other_cases || fields.may_mean("tasks");
    lost.cases |= other_cases || fields.may_mean("records");
    lost.ask |= fields.may_mean("ask");
    lost.models |= fields.may_mean("models");
    lost.dimensions |= fields.may_mean("dimensions");
    lost.templates |= fields.may_mean("templates");
    lost.rubrics |= fields.may_mean("rubrics");
    lost.tools |= fields.may_mean("tools");
    lost.agents |= fields.may_mean("agents");
    lost.evaluators |= fields.may_mean("evaluators");
}

fn read_ask(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    let ask = ask::read(reading, at.key_span, at.node);
    suite.lost.ask |= ask.is_none();
    match (ask, &suite.ask) {
        (Some(again), Some(first)) => {
            let problem = Problem::new(&codes::CONFLICT, "a suite has one `ask`").at(again.span, "again here");
            let problem = problem.at(first.span, "first here");
            reading.problem(problem.help("keep one of them; several prompts and models stand in one `ask`"));
        }
        (Some(ask), None) => suite.ask = Some(ask),
        (None, _) => {}
    }
}

fn read_tasks(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    suite.lost.tasks |= at.node.as_list().is_none();
    for item in reading.list("`tasks`", "a list of tasks", at.node) {
        keep_task(suite, task::read(reading, item));
    }
}

/// Adds a task, or notes that there is one that could not be read.
fn keep_task(suite: &mut Suite, task: Result<task::Task, Option<String>>) {
    match task {
        Ok(task) => suite.tasks.push(task),
        Err(Some(id)) => suite.lost.task_ids.push(id),
        Err(None) => suite.lost.tasks = true,
    }
}

fn read_models(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    let roles = models::read(reading, at.node);
    let read: HashSet<&str> = roles.iter().map(|it| it.name.value.as_str()).collect();
    let names = at.node.entries().unwrap_or(&[]).iter().map(|it| &*it.key);
    suite.lost.roles.extend(names.filter(|it| !read.contains(it)).map(str::to_owned));
    suite.lost.models |= at.node.entries().is_none();

    let known: HashMap<String, Span> = suite.models.iter().map(|it| (it.name.value.clone(), it.name.span)).collect();
    for role in roles {
        match known.get(&role.name.value) {
            Some(earlier) => {
                let problem =
                    Problem::new(&codes::CONFLICT, format!("the role `{}` is defined twice", role.name.value));
                let problem = problem.at(role.name.span, "again here").at(*earlier, "first here");
                reading.problem(problem.help("keep one of them"));
            }
            None => suite.models.push(role),
        }
    }
}

/// What stands in a section of names, as far as it could be read.
struct Named<T> {
    read: Vec<(Spanned<String>, T)>,
    /// The names of the rest.
    lost: Vec<String>,
}

/// Reads an object of names.
fn named<T>(
    reading: &mut Reading<'_>,
    section: &str,
    node: &Node<'_>,
    read: fn(&mut Reading<'_>, &str, &Node<'_>) -> Option<T>,
) -> Named<T> {
    let mut named = Named { read: Vec::new(), lost: Vec::new() };
    let Some(entries) = node.entries() else {
        reading.wrong_type(&format!("`{section}`"), "an object of names", node);
        return named;
    };
    for entry in entries {
        let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
        let name = read_id(reading, &format!("a name in `{section}`"), &name);
        match (name, read(reading, &format!("`{}`", entry.key), &entry.value)) {
            (Some(name), Some(value)) => named.read.push((name, value)),
            _ => named.lost.push(entry.key.clone().into_owned()),
        }
    }
    named
}

/// Adds what was read under names that are not taken.
fn add_new<T>(
    reading: &mut Reading<'_>,
    what: &str,
    read: &mut Vec<(Spanned<String>, T)>,
    named: Vec<(Spanned<String>, T)>,
) {
    for (name, value) in named {
        match read.iter().find(|(known, _)| known.value == name.value) {
            Some((earlier, _)) => {
                let problem = Problem::new(&codes::CONFLICT, format!("{what} `{}` is defined twice", name.value));
                let problem = problem.at(name.span, "again here").at(earlier.span, "first here");
                reading.problem(problem.help("keep one of them"));
            }
            None => read.push((name, value)),
        }
    }
}

fn read_agents(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    let Some(entries) = at.node.entries() else {
        reading.wrong_type("`agents`", "an object of names and agents", at.node);
        suite.lost.agents = true;
        return;
    };
    for entry in entries {
        let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
        let name = read_id(reading, "a name in `agents`", &name);
        let agent = name.and_then(|name| agents::read(reading, name, &entry.value));
        let Some(agent) = agent else {
            suite.lost.agent_names.push(entry.key.clone().into_owned());
            continue;
        };
        match suite.agents.iter().find(|it| it.name.value == agent.name.value) {
            Some(earlier) => {
                let message = format!("the agent `{}` is defined twice", agent.name.value);
                let problem = Problem::new(&codes::CONFLICT, message).at(agent.name.span, "again here");
                reading.problem(problem.at(earlier.name.span, "first here").help("keep one of them"));
            }
            None => suite.agents.push(agent),
        }
    }
}

fn read_tools(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    let servers = tools::read(reading, at.node);
    let read: HashSet<&str> = servers.iter().map(|it| it.name.value.as_str()).collect();
    let names = at.node.entries().unwrap_or(&[]).iter().map(|it| &*it.key);
    suite.lost.server_names.extend(names.filter(|it| !read.contains(it)).map(str::to_owned));
    suite.lost.tools |= at.node.entries().is_none();
    for server in servers {
        match suite.tools.iter().find(|it| id::same_id(&it.name.value, &server.name.value)) {
            Some(earlier) => reading.problem(tools::defined_twice(&server.name, &earlier.name)),
            None => suite.tools.push(server),
        }
    }
}

pub(super) const HOOKS: Field<bool> =
    Field::optional("allow_local_python_hooks", shape::BOOLEAN, "whether hooks may run the author's Python");
const ALLOWS_HOOKS: Defaulted<bool> = HOOKS.default(false);

static SECURITY_POLICY: Object = Object { what: "`security_policy`", keys: &[ALLOWS_HOOKS.key] };
