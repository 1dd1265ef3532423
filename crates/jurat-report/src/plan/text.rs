//! A plan for people: what runs in which stage, what leads to what, and what it may cost.

use std::collections::HashMap;
use std::io::{self, Write};

use jurat_core::report::gate_name;
use jurat_core::suite::Gate;

use super::{CostBound, PlanReport, PlanTask};
use crate::Style;
use crate::scenario::write_graphs;
use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::visible::visible_line;
use crate::words::{self, counted, cut};

/// How much of a text is shown.
const ROOM: usize = 200;

/// With more stages than this the tree is left out: it would be wider than any window.
const MOST_STAGES: usize = 24;

/// Writes a plan as text, in a window of this width when there is one.
pub fn write_text(out: &mut dyn Write, plan: &PlanReport, style: Style, width: Option<usize>) -> io::Result<()> {
    let n_tasks = counted(plan.tasks().count() as u64, "task");
    let n_stages = counted(plan.stages.len() as u64, "stage");
    let n_scenarios = match plan.scenarios.len() as u64 {
        0 => String::new(),
        n => format!(", {}", counted(n, "scenario")),
    };
    writeln!(out, "{}: {n_tasks} in {n_stages}{n_scenarios}", style.meant(Meaning::Name, &cut(&plan.suite, ROOM)))?;
    if let Some(description) = &plan.description {
        writeln!(out, "{}", cut(description, ROOM))?;
    }
    if plan.scenarios.is_empty() || !plan.stages.is_empty() {
        writeln!(out)?;
        tasks(plan).write(out, style, width)?;
    }
    if (2..=MOST_STAGES).contains(&plan.stages.len()) {
        writeln!(out)?;
        write_tree(out, plan, style)?;
    }
    if !plan.scenarios.is_empty() {
        writeln!(out)?;
        write_graphs(out, &plan.scenarios, style)?;
    }
    writeln!(out)?;
    write_bounds(out, plan)
}

fn tasks(plan: &PlanReport) -> Table {
    let mut table = Table::new(vec![
        Column::number("stage"),
        Column::text("task"),
        Column::word("kind"),
        Column::word("gate"),
        Column::text("on"),
        Column::text("after"),
        Column::text("asks"),
        Column::number("calls"),
        Column::text("compares"),
        Column::message("description"),
    ]);
    for (stage, tasks) in plan.stages.iter().enumerate() {
        for task in tasks {
            table.push([
                Cell::from(stage as u64 + 1),
                Cell::text(&task.id),
                Cell::text(&task.kind),
                Cell::from(gate_name(task.gate).to_owned()),
                Cell::text(task.on.as_deref().unwrap_or_default()),
                Cell::text(&task.depends_on.join(", ")),
                Cell::text(&task.models.join(", ")),
                if task.max_calls == 0 { Cell::default() } else { Cell::from(task.max_calls) },
                Cell::text(task.compares.as_deref().unwrap_or_default()),
                Cell::message(task.description.as_deref().unwrap_or_default()),
            ]);
        }
    }
    table
}

/// Each task under the last one that it waits for.
fn write_tree(out: &mut dyn Write, plan: &PlanReport, style: Style) -> io::Result<()> {
    let tree = Tree::of(plan);
    // Down to the first leaf, then on to the next branch; the last to be looked at is on top.
    let mut open: Vec<(usize, String, &str, &str)> =
        tree.roots.iter().rev().map(|ix| (*ix, String::new(), "", "")).collect();
    while let Some((ix, indent, branch, below)) = open.pop() {
        let task = tree.tasks[ix];
        let gate = match task.gate {
            Gate::None => "",
            Gate::Condition => " (gate)",
            Gate::Required => " (required)",
            Gate::Member => " (member)",
        };
        let others: Vec<String> = tree.other_parents(ix).map(|it| visible_line(&it.id).into_owned()).collect();
        let others = if others.is_empty() { String::new() } else { format!(", also after {}", others.join(", ")) };
        let name = style.meant(Meaning::Name, &visible_line(&task.id));
        writeln!(out, "{indent}{branch}{name}{gate}{others}")?;
        let indent = format!("{indent}{below}");
        for (n, child) in tree.children[ix].iter().enumerate().rev() {
            let is_last = n + 1 == tree.children[ix].len();
            let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            open.push((*child, indent.clone(), branch, below));
        }
    }
    Ok(())
}

/// Tasks, each below one other.
struct Tree<'p> {
    tasks: Vec<&'p PlanTask>,
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// All that a task waits for; the first is the one it stands under.
    parents: Vec<Vec<usize>>,
}

impl<'p> Tree<'p> {
    fn of(plan: &'p PlanReport) -> Tree<'p> {
        let tasks: Vec<&PlanTask> = plan.tasks().collect();
        let places: HashMap<&str, usize> = tasks.iter().enumerate().map(|(ix, it)| (&*it.id, ix)).collect();
        let stages: Vec<usize> =
            plan.stages.iter().enumerate().flat_map(|(stage, tasks)| tasks.iter().map(move |_| stage)).collect();
        let mut tree = Tree { roots: Vec::new(), children: vec![Vec::new(); tasks.len()], parents: Vec::new(), tasks };
        for ix in 0..tree.tasks.len() {
            let known = tree.tasks[ix].depends_on.iter().filter_map(|id| places.get(&**id).copied());
            // Only what runs earlier can be above, so that nothing is below itself, whatever the plan says.
            let mut parents: Vec<usize> = known.filter(|it| stages[*it] < stages[ix]).collect();
            parents.sort_by_key(|it| std::cmp::Reverse(stages[*it]));
            match parents.first() {
                Some(parent) => tree.children[*parent].push(ix),
                None => tree.roots.push(ix),
            }
            tree.parents.push(parents);
        }
        tree
    }

    fn other_parents(&self, ix: usize) -> impl Iterator<Item = &'p PlanTask> {
        self.parents[ix].iter().skip(1).map(|it| self.tasks[*it])
    }
}

/// `1 call is`, `2 calls are`
fn counted_left(n: u64) -> String {
    format!("{} {}", counted(n, "call"), if n == 1 { "is" } else { "are" })
}

fn write_bounds(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    let sources: Vec<&str> = plan.sources.iter().map(|it| if it == "-" { "standard input" } else { it }).collect();
    let from = if sources.is_empty() { String::new() } else { format!(" from {}", sources.join(", ")) };
    let cases = plan.cases.map_or_else(|| "cases".to_owned(), |it| counted(it, "case"));
    writeln!(out, "{cases}{}", cut(&from, ROOM))?;
    if let Some(asking) = &plan.asking {
        let prompts = counted(asking.prompts.len() as u64, "prompt");
        let calls = counted(asking.max_calls, "call");
        let tools = match asking.tools.as_slice() {
            [] => String::new(),
            tools => format!(" and the tools of {}", cut(&tools.join(", "), ROOM)),
        };
        let subjects = cut(&asking.subjects.join(", "), ROOM);
        writeln!(out, "asks {subjects} with {prompts}{tools}, at most {calls} a case")?;
    }
    let a_case = words::grouped(plan.calls_per_case());
    let talks = plan.scenarios.iter().any(|it| it.max_calls > 0);
    match plan.calls {
        _ if plan.calls_per_case() == 0 && !talks => return writeln!(out, "no calls of models"),
        Some(calls) if talks => writeln!(out, "at most {} of models", counted(calls, "call"))?,
        None if talks => writeln!(out, "how many calls of models there are at most is not known")?,
        Some(calls) => writeln!(out, "at most {} of models, {a_case} a case", counted(calls, "call"))?,
        None => writeln!(out, "at most {} of models a case", counted(plan.calls_per_case(), "call"))?,
    }
    if let Some(n) = plan.in_journal.filter(|it| *it > 0) {
        let left = plan.calls_left.map_or_else(String::new, |it| format!("; at most {} left", counted_left(it)));
        writeln!(out, "the journal has {}{left}", counted(n, "answer"))?;
    }
    match &plan.cost {
        CostBound::AtMost(dollars) => writeln!(out, "at most {}", words::money(*dollars)),
        CostBound::Unknown(reasons) => {
            let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
            writeln!(out, "no bound for the cost{}", cut(&reasons, 2 * ROOM))
        }
    }
}
