//! The graph of tasks: ids, dependencies, stages.

use std::collections::{HashMap, HashSet};

use jurat_format::problem::{Problem, Problems, nearest};
use jurat_format::value::Spanned;
use jurat_format::{codes, id::same_id};

use super::TaskIx;
use crate::section::lost::Part;
use crate::suite::{Suite, Task, TaskKind};

/// The tasks that may run together.
pub type Stage = Vec<TaskIx>;

/// The tasks with their dependencies resolved.
pub(super) struct Graph {
    /// The dependencies of each task, in the order they were written.
    pub(super) depends_on: Vec<Vec<TaskIx>>,
    /// The checks that each evaluation waits for, where they are for its case; none for any other task.
    pub(super) sees: Vec<Vec<TaskIx>>,
    /// The stages; tasks in a cycle, and those behind one, are in none.
    pub(super) stages: Vec<Stage>,
    /// The same, each list in order: for looking up.
    sorted: Vec<Vec<TaskIx>>,
    /// The tasks by scenario and id in lower case.
    by_id: Ids,
    /// The scenario that each task stands in.
    scopes: Vec<Option<String>>,
    /// The ids of tasks of scenarios, in lower case.
    ids_of_scenarios: HashSet<String>,
    /// Whether every dependency was found; a graph that lacks some says little about who depends on whom.
    pub(super) is_whole: bool,
}

impl Graph {
    /// The task with this id, whatever its case, as another task sees it: a task of its scenario, or one of the suite.
    pub(super) fn find(&self, from: usize, id: &str) -> Option<TaskIx> {
        find(&self.by_id, self.scopes[from].as_ref(), id)
    }

    /// Whether some task, of the suite or of a scenario, has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        let id = id.to_ascii_lowercase();
        self.ids_of_scenarios.contains(&id) || self.by_id.contains_key(&(None, id))
    }

    /// Whether one task names another in its `depends_on`.
    pub(super) fn depends(&self, task: usize, on: TaskIx) -> bool {
        self.sorted[task].binary_search(&on).is_ok()
    }
}

/// Tasks by the scenario they stand in, and their id in lower case. Scenarios do not see each other's tasks, so ids may come again.
type Ids = HashMap<(Option<String>, String), TaskIx>;

fn find(by_id: &Ids, scope: Option<&String>, id: &str) -> Option<TaskIx> {
    let id = id.to_ascii_lowercase();
    let own = scope.and_then(|it| by_id.get(&(Some(it.clone()), id.clone())));
    own.or_else(|| by_id.get(&(None, id))).copied()
}

fn scope(task: &Task) -> Option<&String> {
    task.scope.as_ref().map(|it| &it.value)
}

/// Resolves ids and dependencies, noting what does not fit together.
pub(super) fn resolve(suite: &Suite, problems: &mut Problems) -> Graph {
    let tasks = suite.tasks.as_slice();
    let n_before = problems.n_errors();
    let by_id = index(tasks, problems);
    let mut is_whole = !suite.lost.unnamed(Part::Task);
    let mut depends_on = Vec::with_capacity(tasks.len());
    for task in tasks {
        let mut found: Vec<TaskIx> = Vec::with_capacity(task.depends_on.len());
        let mut seen = HashSet::with_capacity(task.depends_on.len());
        for (nth, id) in task.depends_on.iter().enumerate() {
            match find(&by_id, scope(task), &id.value) {
                None if suite.lost.has(Part::Task, &id.value) => is_whole = false,
                None if !problems.has_room(&codes::UNKNOWN_DEPENDENCY) => is_whole = false,
                None => problems.push(unknown_dependency(tasks, task, nth)),
                Some(ix) if !seen.insert(ix) => {
                    let problem = Problem::new(&codes::REPEATED_DEPENDENCY, format!("`{}` is named twice", id.value));
                    problems.push(problem.at(id.span, "again here").help("keep one of them"));
                }
                Some(ix) => found.push(ix),
            }
        }
        depends_on.push(found);
    }
    let groups: Vec<Vec<TaskIx>> = tasks.iter().map(|it| members(tasks, &by_id, it, problems)).collect();
    let waits: Vec<Vec<TaskIx>> =
        depends_on.iter().zip(&groups).map(|(on, of)| on.iter().chain(of).copied().collect()).collect();
    find_cycles(tasks, &waits, problems);
    is_whole &= problems.n_errors() == n_before;
    let mut sees = sees(tasks, &waits);
    sees.iter_mut().zip(groups).for_each(|(sees, of)| sees.extend(of));
    let after: Vec<Vec<TaskIx>> = depends_on
        .iter()
        .zip(&sees)
        .map(|(on, seen)| on.iter().chain(seen.iter().filter(|it| !on.contains(it))).copied().collect())
        .collect();
    let stages = stages(&after);
    let mut sorted = depends_on.clone();
    sorted.iter_mut().for_each(|it| it.sort_unstable());
    let scopes = tasks.iter().map(|it| scope(it).cloned()).collect();
    let of_scenarios = by_id.keys().filter(|(scope, _)| scope.is_some());
    let ids_of_scenarios = of_scenarios.map(|(_, id)| id.clone()).collect();
    Graph { depends_on, sees, sorted, by_id, scopes, ids_of_scenarios, stages, is_whole }
}

/// Ids are unique without regard to case, and found so.
fn index(tasks: &[Task], problems: &mut Problems) -> Ids {
    let mut by_id: Ids = HashMap::with_capacity(tasks.len());
    // Tasks of the suite come first: they are seen from everywhere.
    let (of_suite, of_scenarios): (Vec<usize>, Vec<usize>) =
        (0..tasks.len()).partition(|it| tasks[*it].scope.is_none());
    for ix in of_suite.into_iter().chain(of_scenarios) {
        let task = &tasks[ix];
        let id = task.id.value.as_str();
        match find(&by_id, scope(task), id) {
            Some(earlier) => {
                let first = &tasks[earlier.index()].id;
                let message = if first.value == id {
                    format!("two tasks are called `{id}`")
                } else {
                    format!("`{id}` and `{}` differ only in case", first.value)
                };
                // An alias brings the id along; then the alias is what stands again.
                let again = if task.id.span == first.span { task.span } else { task.id.span };
                let problem =
                    Problem::new(&codes::DUPLICATE_ID, message).at(again, "again here").at(first.span, "first here");
                problems.push(problem.help("give one of them another id"));
            }
            None => {
                by_id.insert((scope(task).cloned(), id.to_ascii_lowercase()), TaskIx::of(ix));
            }
        }
    }
    by_id
}

fn unknown_dependency(tasks: &[Task], task: &Task, nth: usize) -> Problem {
    let id = &task.depends_on[nth];
    let problem = Problem::new(&codes::UNKNOWN_DEPENDENCY, format!("there is no task `{}`", id.value))
        .at(id.span, "unknown task");
    let elsewhere = tasks.iter().find(|it| same_id(&it.id.value, &id.value));
    if let Some((other, scenario)) = elsewhere.and_then(|it| Some((it, it.scope.as_ref()?))) {
        let problem = problem.at(other.id.span, format!("a task of the scenario `{}`", scenario.value));
        return problem.help("a task depends on tasks of its own scenario, and on those of the suite");
    }
    let is_seen = |it: &&Task| it.scope.is_none() || it.scope == task.scope;
    let others = || tasks.iter().filter(|it| it.id.value != task.id.value).filter(is_seen);
    match nearest(&id.value, others().map(|it| it.id.value.as_str())) {
        Some(near) => {
            let place = others().find(|it| it.id.value == near).map(|it| it.id.span);
            let problem = problem.help(format!("did you mean `{near}`?"));
            match place {
                Some(span) => problem.at(span, "a task with a similar id"),
                None => problem,
            }
        }
        None => problem.help("every id in `depends_on` is the id of a task in this suite"),
    }
}

/// Every cycle once, as the path it is.
fn find_cycles(tasks: &[Task], depends_on: &[Vec<TaskIx>], problems: &mut Problems) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; tasks.len()];
    for start in 0..tasks.len() {
        if marks[start] != Mark::New {
            continue;
        }
        // A stack of our own: ten thousand tasks in a row must not exhaust the machine's.
        let mut stack = vec![(start, 0)];
        marks[start] = Mark::Open;
        while let Some((task, nth)) = stack.pop() {
            let Some(next) = depends_on[task].get(nth).map(|it| it.index()) else {
                marks[task] = Mark::Done;
                continue;
            };
            stack.push((task, nth + 1));
            match marks[next] {
                Mark::Done => {}
                Mark::New => {
                    marks[next] = Mark::Open;
                    stack.push((next, 0));
                }
                Mark::Open if !problems.has_room(&codes::CYCLE) => {}
                Mark::Open => {
                    let from = stack.iter().position(|(it, _)| *it == next).unwrap_or(0);
                    let path: Vec<usize> = stack[from..].iter().map(|(it, _)| *it).collect();
                    problems.push(cycle(tasks, &path));
                }
            }
        }
    }
}

/// How much of a long cycle is shown.
const MAX_SHOWN: usize = 20;

fn cycle(tasks: &[Task], path: &[usize]) -> Problem {
    let name = |ix: &usize| format!("`{}`", tasks[*ix].id.value);
    let message = match path {
        [only] => format!("{} depends on itself", name(only)),
        _ => {
            let mut names: Vec<String> = path.iter().take(MAX_SHOWN).map(name).collect();
            if path.len() > MAX_SHOWN {
                names.push(format!("{} more", path.len() - MAX_SHOWN));
            }
            names.extend(path.first().map(name));
            format!("tasks wait for each other: {}", names.join(" → "))
        }
    };
    let mut problem = Problem::new(&codes::CYCLE, message);
    for (ix, next) in path.iter().zip(path.iter().cycle().skip(1)).take(MAX_SHOWN) {
        let members = match &tasks[*ix].kind {
            TaskKind::Group(group) => group.members.as_slice(),
            _ => &[],
        };
        let named = tasks[*ix].depends_on.iter().chain(members.iter().map(|it| &it.id));
        let edge = named.into_iter().find(|it| same_id(&it.value, &tasks[*next].id.value));
        if let Some(edge) = edge {
            problem = problem.at(edge.span, format!("`{}` waits for `{}`", tasks[*ix].id.value, edge.value));
        }
    }
    problem.help("remove one of these dependencies")
}

/// What each evaluation waits for: every check, for whatever cases, except those that wait for the evaluation.
fn sees(tasks: &[Task], depends_on: &[Vec<TaskIx>]) -> Vec<Vec<TaskIx>> {
    let of = |ix: usize| {
        if !matches!(tasks[ix].kind, TaskKind::Evaluation { .. }) {
            return Vec::new();
        }
        let mut behind = HashSet::from([ix]);
        // Once for each task that is found; there are few behind an evaluation.
        loop {
            let is_new =
                |it: &usize| !behind.contains(it) && depends_on[*it].iter().any(|on| behind.contains(&on.index()));
            let Some(next) = (0..tasks.len()).find(is_new) else { break };
            behind.insert(next);
        }
        let is_check = |it: &usize| matches!(tasks[*it].kind, TaskKind::Check(_)) && !behind.contains(it);
        (0..tasks.len()).filter(is_check).map(TaskIx::of).collect()
    };
    (0..tasks.len()).map(of).collect()
}

/// The members of a group, noting those that cannot be.
fn members(tasks: &[Task], by_id: &Ids, task: &Task, problems: &mut Problems) -> Vec<TaskIx> {
    let TaskKind::Group(group) = &task.kind else { return Vec::new() };
    let mut found: Vec<TaskIx> = Vec::with_capacity(group.members.len());
    for member in &group.members {
        let id = &member.id;
        match find(by_id, scope(task), &id.value) {
            None => problems.push(unknown_member(tasks, id)),
            Some(ix) if found.contains(&ix) => {
                let problem = Problem::new(&codes::REPEATED_DEPENDENCY, format!("`{}` is named twice", id.value));
                problems.push(problem.at(id.span, "again here").help("keep one of them"));
            }
            Some(ix) => {
                problems.extend(member_that_routes(&tasks[ix.index()], id));
                found.push(ix);
            }
        }
    }
    found
}

fn unknown_member(tasks: &[Task], id: &Spanned<String>) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_DEPENDENCY, format!("there is no task `{}`", id.value));
    let problem = problem.at(id.span, "in this group");
    match nearest(&id.value, tasks.iter().map(|it| it.id.value.as_str())) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

/// A gate decides what runs, and a group counts its members in their place.
fn member_that_routes(member: &Task, named: &Spanned<String>) -> Option<Problem> {
    if !member.gate.routes() {
        return None;
    }
    let message = format!("`{}` is a gate, and cannot be in a group", member.id.value);
    let problem = Problem::new(&codes::CONFLICT, message).at(named.span, "in this group").at(member.id.span, "a gate");
    Some(problem.help("make the group the gate, or leave it out of the group"))
}

/// The stage of a task is one more than the highest of its dependencies.
fn stages(depends_on: &[Vec<TaskIx>]) -> Vec<Stage> {
    let mut waiting: Vec<usize> = depends_on.iter().map(Vec::len).collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); depends_on.len()];
    for (ix, on) in depends_on.iter().enumerate() {
        for it in on {
            dependents[it.index()].push(ix);
        }
    }
    let mut stages = Vec::new();
    let mut ready: Vec<usize> = (0..depends_on.len()).filter(|ix| waiting[*ix] == 0).collect();
    while !ready.is_empty() {
        ready.sort_unstable();
        stages.push(ready.iter().map(|ix| TaskIx::of(*ix)).collect());
        let mut next = Vec::new();
        for ix in ready {
            for dependent in &dependents[ix] {
                waiting[*dependent] -= 1;
                if waiting[*dependent] == 0 {
                    next.push(*dependent);
                }
            }
        }
        ready = next;
    }
    stages
}
