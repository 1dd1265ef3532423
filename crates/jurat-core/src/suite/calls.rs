//! Tasks and evaluators, joined: who calls what, and with what.

use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::Reading;
use jurat_format::value::Spanned;
use jurat_format::{codes, id::same_id};

use super::Suite;
use crate::evaluator::binding::{self, Origin};
use crate::evaluator::definition::{Evaluator, EvaluatorKind, unusable_code};
use crate::evaluator::{Scripts, builtin};
use crate::foreign;
use crate::section::lost::Part;
use crate::task::{Evaluate, Gate, Selection, Task, TaskKind};
use crate::transform::Transform;

/// Reads what the functions of TypeScript and JavaScript evaluators take.
pub(in crate::suite) fn read_script_signatures(suite: &mut Suite, reading: &mut Reading<'_>, scripts: &dyn Scripts) {
    for evaluator in &mut suite.evaluators {
        let EvaluatorKind::Code(code) = &mut evaluator.kind else { continue };
        if !code.code.source.language.is_script() {
            continue;
        }
        match scripts.signature(&code.code.source) {
            Ok(signature) => code.signature = signature,
            Err(error) => {
                evaluator.is_flawed = true;
                reading.problem(unusable_code(&reading.sources, code, error));
            }
        }
    }
}

/// Joins tasks and evaluators, once everything is read: each `evaluate` gets its arguments, and an evaluator that no task names gets a task of its
/// own name.
pub(in crate::suite) fn join(suite: &mut Suite, reading: &mut Reading<'_>) {
    let named = |suite: &Suite, name: &str| {
        let is_run = |it: &Task| matches!(&it.kind, TaskKind::Evaluate(it) if it.evaluator.value == name);
        suite.tasks.iter().any(is_run) || transforms(suite).any(|it| it.value == name)
    };
    let unnamed: Vec<Task> =
        suite.evaluators.iter().filter(|it| !named(suite, &it.name.value)).map(task_of_its_own).collect();
    // A file that is lost may have had the task that names it.
    if !suite.lost.unnamed(Part::Task) {
        suite.tasks.extend(unnamed);
    }
    for name in transforms(suite) {
        reading.problems.extend(unusable_transform(suite, name));
    }
    let Suite { tasks, evaluators, lost, .. } = suite;
    for task in tasks {
        let TaskKind::Evaluate(evaluate) = &mut task.kind else { continue };
        let name = &evaluate.evaluator;
        match evaluators.iter().find(|it| it.name.value == name.value) {
            Some(evaluator) => {
                bind(reading, evaluate, evaluator);
                task.is_flawed |= evaluator.is_flawed;
            }
            None if lost.has(Part::Evaluator, &name.value) => task.is_flawed = true,
            None => {
                task.is_flawed = true;
                reading.problem(unknown_evaluator(name, evaluators));
            }
        }
    }
}

/// The evaluators that transform what is judged.
fn transforms(suite: &Suite) -> impl Iterator<Item = &Spanned<String>> {
    let of_tasks = suite.tasks.iter().filter_map(|it| it.transform.as_ref());
    of_tasks.chain(suite.ask.iter().filter_map(|it| it.transform.as_ref())).filter_map(Transform::evaluator)
}

/// A transform by an evaluator that is not there, or that gives a score and not a value.
fn unusable_transform(suite: &Suite, name: &Spanned<String>) -> Option<Problem> {
    match suite.evaluators.iter().find(|it| it.name.value == name.value) {
        Some(Evaluator { kind: EvaluatorKind::Builtin(_), .. }) => {
            let message = format!("`{}` is built in and gives a score, so it transforms nothing", name.value);
            let problem = Problem::new(&codes::WRONG_VALUE, message).at(name.span, "a built-in evaluator");
            Some(problem.help("a transform is a function of yours: `source: {file: …}`"))
        }
        Some(_) => None,
        None if suite.lost.has(Part::Evaluator, &name.value) => None,
        None => Some(unknown_evaluator(name, &suite.evaluators)),
    }
}

fn task_of_its_own(evaluator: &Evaluator) -> Task {
    let evaluate = Evaluate { evaluator: evaluator.name.clone(), with: Vec::new(), bindings: Vec::new() };
    Task {
        id: evaluator.name.clone(),
        description: evaluator.description.clone(),
        kind: TaskKind::Evaluate(Box::new(evaluate)),
        comparison: None,
        transform: None,
        depends_on: Vec::new(),
        gate: Gate::None,
        on: Selection::All,
        scope: None,
        tags: Vec::new(),
        dimensions: Vec::new(),
        written: String::new(),
        span: evaluator.name.span,
        is_flawed: evaluator.is_flawed,
    }
}

fn bind(reading: &mut Reading<'_>, evaluate: &mut Evaluate, evaluator: &Evaluator) {
    let with: Vec<(String, Origin)> =
        evaluate.with.iter().map(|(name, it)| (name.value.clone(), it.value.clone())).collect();
    let known: Option<Vec<&str>> = match &evaluator.kind {
        EvaluatorKind::Builtin(builtin) => Some(builtin.entry.inputs.to_vec()),
        EvaluatorKind::Code(_) | EvaluatorKind::Function(_) => evaluator
            .signature()
            .filter(|it| !it.takes_others)
            .map(|it| it.parameters.iter().map(|it| it.name.as_str()).collect()),
    };
    if let Some(known) = known {
        for (name, _) in evaluate.with.iter().filter(|(name, _)| !known.contains(&name.value.as_str())) {
            reading.problem(unknown_parameter(name, evaluator, &known));
        }
    }
    evaluate.bindings = match &evaluator.kind {
        EvaluatorKind::Code(_) | EvaluatorKind::Function(_) => binding::bindings(evaluator.signature(), &with),
        EvaluatorKind::Builtin(builtin) => {
            let by_name = |name: &&'static str| match with.iter().find(|(it, _)| it == name) {
                Some((_, from)) => {
                    binding::Binding { parameter: (*name).to_owned(), from: from.clone(), is_required: true }
                }
                None => binding::Binding::by_name(name, true),
            };
            builtin.entry.inputs.iter().map(by_name).collect()
        }
    };
}

fn unknown_parameter(name: &Spanned<String>, evaluator: &Evaluator, known: &[&str]) -> Problem {
    let message = format!("`{}` has no parameter `{}`", evaluator.name.value, name.value);
    let problem = Problem::new(&codes::UNKNOWN_PARAMETER, message).at(name.span, "unknown parameter");
    let problem = match known {
        [] => problem.help("it has no parameters"),
        known => problem
            .did_you_mean(&name.value, known.iter().copied())
            .help(format!("it has {}", listed(known.iter().copied()))),
    };
    problem.at(evaluator.name.span, "this evaluator")
}

fn unknown_evaluator(name: &Spanned<String>, evaluators: &[Evaluator]) -> Problem {
    let message = format!("there is no evaluator `{}`", name.value);
    let problem = Problem::new(&codes::UNKNOWN_EVALUATOR, message).at(name.span, "unknown evaluator");
    let names = || evaluators.iter().map(|it| it.name.value.as_str());
    let is_builtin = builtin::ENTRIES.iter().any(|it| same_id(it.name, &name.value));
    match (nearest(&name.value, names()), foreign::advice(&name.value)) {
        (Some(near), _) => problem.help(format!("did you mean `{near}`?")),
        (None, _) if is_builtin => {
            problem.help(format!("define it: `evaluators: {{ {0}: {{ builtin: {0} }} }}`", name.value))
        }
        (None, Some(advice)) => problem.help(advice),
        (None, None) if evaluators.is_empty() => problem.help("evaluators are defined under `evaluators`"),
        (None, None) => problem.help(format!("there are {}", listed(names()))),
    }
}

/// Has groups counted in the place of their members, once all tasks are read.
pub(super) fn join_groups(suite: &mut Suite) {
    let members = suite
        .tasks
        .iter()
        .filter_map(|it| if let TaskKind::Group(group) = &it.kind { Some((it, group)) } else { None });
    let named: Vec<(Option<String>, String)> = members
        .flat_map(|(task, group)| {
            group.members.iter().map(|it| (task.scope.as_ref().map(|it| it.value.clone()), it.id.value.clone()))
        })
        .collect();
    for task in &mut suite.tasks {
        let scope = task.scope.as_ref().map(|it| &it.value);
        let is_named =
            named.iter().any(|(from, id)| same_id(id, &task.id.value) && (scope.is_none() || scope == from.as_ref()));
        if is_named && task.gate == Gate::None {
            task.gate = Gate::Member;
        }
    }
}
