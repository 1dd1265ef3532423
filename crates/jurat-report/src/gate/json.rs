//! A gate as one JSON document.

use std::io::{self, Write};

use jurat_core::gate::{ConditionReport, GateReport, More};

use crate::json_text::{Members, write_line};

/// The version of this shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes a gate as one JSON object, with the code that the command ends with.
pub fn write_json(out: &mut dyn Write, report: &GateReport, exit_code: u8) -> io::Result<()> {
    write_line(out, |document| {
        document.number("version", VERSION);
        document.text("suite", &report.suite);
        document.or_null("base", report.base.as_deref(), Members::text);
        document.text("new", &report.new);
        document.float("confidence", report.confidence.level());
        document.text("verdict", report.verdict.name());
        document.number("exit_code", exit_code.into());
        document.objects("conditions", &report.conditions, write_condition);
        if let Some(contrast) = &report.contrast {
            document.objects("notes", &contrast.notes, |members, note| {
                crate::comparison::write_note(members, note, contrast);
            });
        }
    })
}

fn write_condition(members: &mut Members<'_>, condition: &ConditionReport) {
    members.text("id", &condition.id);
    members.text("kind", condition.kind);
    members.text("selector", &condition.selector);
    members.text("verdict", condition.verdict.name());
    members.flag("advisory", condition.advisory);
    members.or_null("found", condition.found, Members::float);
    members.object("bounds", |members| {
        members.or_null("low", condition.bounds.low, Members::float);
        members.or_null("high", condition.bounds.high, Members::float);
    });
    members.float("wanted", condition.wanted);
    members.or_null("p_fail", condition.p_fail, Members::float);
    members.or_null("p_fail_adjusted", condition.p_fail_adjusted, Members::float);
    members.or_null("least", condition.least, Members::float);
    members.or_null("most", condition.most, Members::float);
    members.text("reason", &condition.reason);
    members.text("sentence", &condition.sentence);
    match &condition.more {
        None => members.null("more"),
        Some(more) => members.object("more", |members| write_more(members, more)),
    }
}

fn write_more(members: &mut Members<'_>, more: &More) {
    members.or_null("total", more.rows.map(|it| it.0), Members::number);
    members.or_null("rows", more.rows.map(|it| it.1), Members::number);
    members.or_null("calls", more.calls, Members::number);
    members.or_null("usd", more.usd, Members::float);
}
