//! What repeating cases showed, for people and for programs.

use std::io::{self, Write};

use jurat_core::report::{AttemptRate, Attempts, FlakyCase, Repetition};
use jurat_core::statistics::VarianceComponents;

use crate::json::write_interval;
use crate::json_text::{Members, object};
use crate::style::Style;
use crate::terminal::{attempts, flaky};
use crate::words;

/// How many cases flip, and how much of what varies is noise.
pub(crate) fn sentence(repetition: &Repetition) -> String {
    let Repetition { n_units, n_flaky, variance, .. } = repetition;
    let flaky = match n_flaky {
        0 => format!("none of {} is flaky", words::counted(*n_units, "repeated case")),
        1 => format!("1 of {} is flaky", words::counted(*n_units, "repeated case")),
        n => format!("{n} of {} are flaky", words::counted(*n_units, "repeated case")),
    };
    let hint = if *n_flaky > 0 { ": `jurat show --flaky`" } else { "" };
    let noise = variance
        .and_then(|it| it.icc)
        .map(|it| format!("; {} of the variance is the noise of asking again", words::rate(Some(1.0 - it))));
    format!("{flaky}{}{hint}", noise.unwrap_or_default())
}

/// Writes what repeating cases showed, with every case that flips, for people.
pub fn write_text(
    out: &mut dyn Write,
    repetition: &Repetition,
    cases: &[FlakyCase],
    style: Style,
    width: Option<usize>,
) -> io::Result<()> {
    let table = flaky(cases);
    if !cases.is_empty() {
        table.write(out, style, width)?;
        writeln!(out)?;
    }
    attempts(Some(repetition)).write(out, style, width)?;
    writeln!(out)?;
    if let Some(VarianceComponents { mean, se_these: Some(these), se_such: Some(such), .. }) = repetition.variance {
        let points = |se: f64| format!("{:.1}", 100.0 * se);
        let rate = words::rate(Some(mean));
        writeln!(
            out,
            "pass rate of cases {rate}; standard error {} points for these cases, {} for cases like these",
            points(these),
            points(such)
        )?;
    }
    writeln!(out, "{}", sentence(repetition).trim_end_matches(": `jurat show --flaky`"))
}

/// Writes the same for programs.
pub fn write_json(out: &mut dyn Write, repetition: &Repetition, cases: &[FlakyCase]) -> io::Result<()> {
    let mut text = String::new();
    object(&mut text, |members| {
        members.object("repetition", |it| write_repetition(it, repetition));
        members.objects("flaky", cases, write_flaky);
    });
    writeln!(out, "{text}")
}

pub(crate) fn write_repetition(members: &mut Members<'_>, repetition: &Repetition) {
    members.objects("attempts", &repetition.attempts, write_attempts);
    if let Some(variance) = repetition.variance {
        members.object("variance", |it| write_variance(it, &variance));
    }
    members.number("cases", repetition.n_units);
    members.number("flaky", repetition.n_flaky);
}

fn write_attempts(members: &mut Members<'_>, attempts: &Attempts) {
    members.number("k", attempts.k);
    for (name, rate) in [("pass_at_k", attempts.any), ("pass_all_k", attempts.all)] {
        match rate {
            Some(rate) => members.object(name, |it| write_rate(it, rate)),
            None => members.null(name),
        }
    }
    members.number("cases", attempts.n_units);
    members.number("too_few", attempts.n_too_few);
}

fn write_rate(members: &mut Members<'_>, rate: AttemptRate) {
    members.float("rate", rate.rate);
    write_interval(members, rate.interval);
}

fn write_variance(members: &mut Members<'_>, variance: &VarianceComponents) {
    members.float("mean", variance.mean);
    let parts = [
        ("between", variance.between),
        ("within", variance.within),
        ("icc", variance.icc),
        ("se_these", variance.se_these),
        ("se_such", variance.se_such),
    ];
    for (name, value) in parts {
        members.or_null(name, value, Members::float);
    }
}

fn write_flaky(members: &mut Members<'_>, case: &FlakyCase) {
    members.text("case", &case.case);
    if !case.variant.is_empty() {
        members.text("variant", &case.variant);
    }
    members.number("passed", case.passed);
    members.number("judged", case.judged);
    write_interval(members, case.interval);
    members.texts("tasks", &case.tasks);
}
