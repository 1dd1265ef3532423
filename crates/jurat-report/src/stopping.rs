//! A run that stopped because enough was known, for programs.

use jurat_core::statistics::Interval;
use jurat_core::stopping::{Rule, StoppedCondition, StoppedEarly};

use crate::json::optional;
use crate::json_text::Members;

/// What a run knew when it stopped. The members of the condition that ended it stand at the top.
pub(crate) fn write_stopped(members: &mut Members<'_>, stopped: &StoppedEarly) {
    let deciding = stopped.deciding();
    members.text("rule", stopped.rule.name());
    members.text("unit", stopped.unit);
    members.number("rows", stopped.rows);
    members.number("of", stopped.of);
    members.float("passed", stopped.passed);
    optional(deciding.and_then(|it| it.ln_e), |it| members.float("ln_e", it));
    members.float("alpha", deciding.map_or(1.0 - stopped.confidence, |it| it.alpha));
    write_sequence(members, stopped.sequence);
    members.objects("conditions", &stopped.conditions, write_condition);
    members.text("sentence", &stopped.sentence());
}

fn write_condition(members: &mut Members<'_>, condition: &StoppedCondition) {
    members.text("id", &condition.id);
    members.text("kind", &condition.kind);
    members.or_null("rule", condition.rule.map(Rule::name), Members::text);
    members.number("rows", condition.rows);
    members.number("of", condition.of);
    optional(condition.ln_e, |it| members.float("ln_e", it));
    members.float("alpha", condition.alpha);
    optional(condition.end_alpha, |it| members.float("end_alpha", it));
    members.float("bound", condition.bound);
    write_sequence(members, condition.sequence);
}

fn write_sequence(members: &mut Members<'_>, sequence: Option<Interval>) {
    match sequence {
        None => members.null("sequence"),
        Some(Interval { low, high }) => members.object("sequence", |it| {
            it.float("low", low);
            it.float("high", high);
        }),
    }
}
