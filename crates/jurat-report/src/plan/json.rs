//! A plan for programs.

use std::io::{self, Write};

use jurat_core::report::gate_name;

use super::{CostBound, PlanReport, PlanTask};
use crate::json::optional;
use crate::json_text::{Members, object, write_line};
use crate::scenario::write_graph;

/// The version of this shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes a plan as one JSON object.
pub fn write_json(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    write_line(out, |members| write_plan(members, plan))
}

fn write_plan(members: &mut Members<'_>, plan: &PlanReport) {
    members.number("version", VERSION);
    members.text("suite", &plan.suite);
    optional(plan.description.as_deref(), |it| members.text("description", it));
    members.texts("sources", &plan.sources);
    members.or_null("cases", plan.cases, Members::number);
    optional(plan.asking.as_ref(), |asking| {
        members.object("asking", |it| {
            it.texts("prompts", &asking.prompts);
            it.texts("subjects", &asking.subjects);
            if !asking.tools.is_empty() {
                it.texts("tools", &asking.tools);
            }
            it.number("max_calls", asking.max_calls);
        });
    });
    members.list("stages", &plan.stages, |text, tasks| {
        text.push('[');
        for (ix, task) in tasks.iter().enumerate() {
            text.push_str(if ix == 0 { "" } else { "," });
            object(text, |it| write_task(it, task));
        }
        text.push(']');
    });
    members.objects_if_any("scenarios", &plan.scenarios, write_graph);
    members.number("calls_per_case", plan.calls_per_case());
    members.or_null("max_calls", plan.calls, Members::number);
    members.or_null("in_journal", plan.in_journal, Members::number);
    members.or_null("max_calls_left", plan.calls_left, Members::number);
    match &plan.cost {
        CostBound::AtMost(dollars) => members.float("max_cost_usd", *dollars),
        CostBound::Unknown(reasons) => {
            members.null("max_cost_usd");
            members.texts("cost_unknown", reasons);
        }
    }
}

fn write_task(members: &mut Members<'_>, task: &PlanTask) {
    members.text("task", &task.id);
    members.text("kind", &task.kind);
    optional(Some(gate_name(task.gate)).filter(|it| !it.is_empty()), |it| members.text("gate", it));
    members.texts("depends_on", &task.depends_on);
    members.texts("models", &task.models);
    optional(task.description.as_deref(), |it| members.text("description", it));
    optional(task.compares.as_deref(), |it| members.text("compares", it));
    optional(task.on.as_deref(), |it| members.text("on", it));
    members.number("max_calls", task.max_calls);
}
