//! The sections of a definition: one entry each. A new section is a file of its own and a line in [`SECTIONS`].

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree};
use jurat_format::value::{FieldPath, Node, Span, Spanned};

use super::lost::Part;
use super::task::read_id;
use super::{
    Records, RowSource, Suite, agent_cases, agents, ask, campaign, deterministic_checks, evaluation, evaluators,
    models, prices, records, rubric, scenario, task, template, tools,
};
use crate::gate::policy;
use crate::verdict::thresholds;

/// A key of the top level and what becomes of its value.
struct Section {
    key: Key,
    /// What there may be when a mistyped key probably means this one.
    parts: &'static [Part],
    read: ReadSection,
}

/// Where a section stands.
struct At<'n, 'a> {
    node: &'n Node<'a>,
    key_span: Span,
    /// Whether it stands in the file that was named, not in one that it includes.
    is_main: bool,
}

pub(super) const INCLUDE: Field<Vec<Spanned<String>>> =
    Field::optional("include", shape::TEXTS, "suite files whose sections are added to this one");

/// Read elsewhere, or not at all.
fn nothing(_: &mut Reading<'_>, _: &mut Suite, _: At<'_, '_>) {}

type ReadSection = fn(&mut Reading<'_>, &mut Suite, At<'_, '_>);

const fn section(field: Field<Tree>, parts: &'static [Part], read: ReadSection) -> Section {
    Section { key: field.key, parts, read }
}

const fn reserved(name: &'static str, doc: &'static str) -> Section {
    Section { key: Key::reserved(name, doc), parts: &[], read: nothing }
}

static SECTIONS: [Section; 27] = [
    section(Field::optional("suite", shape::tree(Form::Text), "the name of the suite"), &[], |reading, suite, at| {
        let name = reading.text("`suite`", at.node);
        suite.name = if at.is_main { name } else { suite.name.take() };
    }),
    section(
        Field::optional("description", shape::tree(Form::Text), "what the suite is for; shown in reports"),
        &[],
        |reading, suite, at| {
            let text = reading.text("`description`", at.node).map(|it| it.value);
            suite.description = if at.is_main { text } else { suite.description.take() };
        },
    ),
    Section { key: INCLUDE.key, parts: &[], read: nothing },
    section(Field::optional("models", shape::tree(models::FORM), "the model for each role"), &[Part::Role], |reading, suite, at| {
        models::SECTION.read(reading, (&mut suite.lost, &mut suite.models), ("models", at.node), models::read);
    }),
    section(
        Field::optional("prices", shape::tree(Form::Text), "a file of list prices of models, in place of the built-in ones"),
        &[],
        |reading, suite, at| {
            let prices = prices::read(reading, at.node);
            suite.prices = if at.is_main { prices } else { suite.prices.take().or(prices) };
        },
    ),
    section(
        Field::optional("tools", shape::tree(tools::FORM), "tool servers (MCP) that models may call"),
        &[Part::Server],
        |reading, suite, at| {
            tools::SECTION.read(reading, (&mut suite.lost, &mut suite.tools), ("tools", at.node), tools::read);
        },
    ),
    section(
        Field::optional("records", shape::tree(records::FORM), "the rows to evaluate: files, `-` for standard input, or the rows themselves"),
        &[Part::Case],
        |reading, suite, at| {
            let records = records::read(reading, at.node);
            suite.lost.add_if(records.is_none(), &[Part::Case]);
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
        Field::optional("ask", shape::tree(ask::FORM), "asks a model, the subject, about each row; the tasks judge its answers"),
        &[Part::Ask],
        read_ask,
    ),
    section(
        Field::optional("templates", shape::tree(const { Form::Map(&template::FORM) }), "answer templates that scenarios use by name"),
        &[Part::Template],
        |reading, suite, at| {
            template::SECTION.read(
                reading,
                (&mut suite.lost, &mut suite.templates),
                ("templates", at.node),
                |reading, name, node| {
                    let template = template::read(reading, &format!("`{}`", name.value), node)?;
                    Some((name, template))
                },
            );
        },
    ),
    section(
        Field::optional("rubrics", shape::tree(const { Form::Map(&rubric::FORM) }), "rubrics that scenarios use by name"),
        &[Part::Rubric],
        |reading, suite, at| {
            rubric::SECTION.read(
                reading,
                (&mut suite.lost, &mut suite.rubrics),
                ("rubrics", at.node),
                |reading, name, node| {
                    let traits = rubric::read(reading, &format!("`{}`", name.value), node)?;
                    Some((name, traits))
                },
            );
        },
    ),
    section(
        Field::optional("scenarios", shape::tree(scenario::FORM), "conversations along a graph, by name or as a list"),
        &[Part::Task, Part::Case],
        |reading, suite, at| scenario::read(reading, suite, at.node),
    ),
    section(
        Field::optional("evaluators", shape::tree(evaluators::FORM), "evaluators by name: your code, or built-in ones such as BLEU"),
        &[Part::Evaluator],
        |reading, suite, at| {
            let known = (&mut suite.lost, &mut suite.evaluators);
            evaluators::SECTION.read(reading, known, ("evaluators", at.node), evaluators::read);
        },
    ),
    section(
        Field::optional("tasks", shape::tree(const { Form::List(&Form::Object(&task::TASK)) }), "what is judged; tasks may depend on each other"),
        &[Part::Task],
        read_tasks,
    ),
    section(
        Field::optional("deterministic_checks", shape::tree(deterministic_checks::ENTRIES), "checks in the form of personal-agent-eval; each becomes a task"),
        &[Part::Task],
        |reading, suite, at| {
            suite.lost.add_if(at.node.as_list().is_none(), &[Part::Task]);
            for item in reading.list("`deterministic_checks`", "a list of checks", at.node) {
                keep_task(suite, deterministic_checks::read_entry(reading, item));
            }
        },
    ),
    section(
        Field::optional("dimensions", shape::tree(Form::List(&Form::Id)), "names of dimensions beyond the built-in ones"),
        &[Part::Dimension],
        |reading, suite, at| {
            let n_before = reading.n_errors();
            let items = reading.list("`dimensions`", "a list of names", at.node);
            let names: Vec<_> = items.iter().filter_map(|it| read_id(reading, "a dimension", it)).collect();
            suite.lost.add_if(reading.n_errors() > n_before, &[Part::Dimension]);
            suite.dimensions.extend(names);
        },
    ),
    section(
        Field::optional("group_by", shape::tree(Form::List(&Form::Path)), "paths; the summary has one line per value found there"),
        &[],
        |reading, suite, at| suite.group_by.extend(paths(reading, "group_by", at.node)),
    ),
    section(
        Field::optional("cluster_by", shape::tree(Form::Path), "the path of what rows share, such as a document; intervals, comparisons and gates take rows with one value there for one cluster")
        .default_words("each row is a cluster of its own"),
        &[],
        |reading, suite, at| suite.cluster_by = reading.path("`cluster_by`", at.node).or(suite.cluster_by.take()),
    ),
    section(
        Field::optional("question", shape::tree(Form::List(&Form::Path)), "paths of a row that are the question; comparisons leave out rows in which they differ"),
        &[],
        |reading, suite, at| suite.question.extend(paths(reading, "question", at.node)),
    ),
    section(
        Field::optional("thresholds", shape::tree(Form::Object(&thresholds::THRESHOLDS)), "what the run must reach to pass"),
        &[],
        |reading, suite, at| thresholds::read(reading, &mut suite.thresholds, at.node),
    ),
    section(
        Field::optional("gates", shape::tree(Form::Object(&policy::GATES)), "what a change must not do, for `jurat gate`"),
        &[],
        |reading, suite, at| policy::read(reading, &mut suite.gates, at.node),
    ),
    section(Field::optional("agents", shape::tree(agents::FORM), "agents by name"), &[Part::Agent], |reading, suite, at| {
        agents::SECTION.read(reading, (&mut suite.lost, &mut suite.agents), ("agents", at.node), agents::read);
    }),
    section(
        Field::optional("cases", shape::tree(agent_cases::FORM), "cases for agents"),
        &[Part::Task, Part::Case],
        |reading, suite, at| {
            agent_cases::read(reading, suite, at.node);
        },
    ),
    section(
        Field::optional("evaluation", shape::tree(evaluation::FORM), "judges that score agent runs by dimension"),
        &[],
        |reading, suite, at| evaluation::read(reading, suite, at.node, at.key_span, at.is_main),
    ),
    section(
        Field::optional("security_policy", shape::tree(Form::Object(&SECURITY_POLICY)), "which code may run; only the one in the main file counts, not those of included files"),
        &[],
        |reading, suite, at| {
            let Some(fields) = SECURITY_POLICY.fields(reading, at.node) else { return };
            let allows = fields.value(reading, &ALLOWS_HOOKS);
            // A library that is included must not allow what the suite does not.
            suite.allows_hooks = if at.is_main { allows } else { suite.allows_hooks };
        },
    ),
    section(
        Field::optional("campaign", shape::tree(campaign::FORM), "suite, cases and profiles in the file format of personal-agent-eval"),
        &[Part::Task, Part::Case],
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
        if let Some(node) = fields.node(&section.key) {
            let key_span = fields.key_span(&section.key).unwrap_or(node.span);
            (section.read)(reading, suite, At { node, key_span, is_main });
        }
        suite.lost.add_if(fields.may_mean(&section.key), section.parts);
    }
}

fn read_ask(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    let ask = ask::read(reading, at.key_span, at.node);
    suite.lost.add_if(ask.is_none(), &[Part::Ask]);
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

/// The paths that a key lists.
fn paths(reading: &mut Reading<'_>, key: &str, node: &Node<'_>) -> Vec<Spanned<FieldPath>> {
    let items = reading.list(&format!("`{key}`"), "a list of paths", node);
    items.iter().filter_map(|it| reading.path(&format!("a path in `{key}`"), it)).collect()
}

fn read_tasks(reading: &mut Reading<'_>, suite: &mut Suite, at: At<'_, '_>) {
    suite.lost.add_if(at.node.as_list().is_none(), &[Part::Task]);
    for item in reading.list("`tasks`", "a list of tasks", at.node) {
        keep_task(suite, task::read(reading, item));
    }
}

/// Adds a task, or notes that there is one that could not be read.
fn keep_task(suite: &mut Suite, task: Result<task::Task, Option<String>>) {
    match task {
        Ok(task) => suite.tasks.push(task),
        Err(id) => suite.lost.add(Part::Task, id),
    }
}

pub(super) const HOOKS: Field<bool> =
    Field::optional("allow_local_python_hooks", shape::BOOLEAN, "whether hooks may run the author's Python");
const ALLOWS_HOOKS: Defaulted<bool> = HOOKS.default(false);

static SECURITY_POLICY: Object = Object { what: "`security_policy`", keys: &[ALLOWS_HOOKS.key] };
