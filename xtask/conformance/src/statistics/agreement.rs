//! Raters, and rates corrected for a judge.

use jurat_core::statistics::{
    Confusion, Corrected, JudgeRecord, Level, Share, Stratum, Tally, Weights, cohen_kappa, gwet_ac1,
    krippendorff_alpha, label_scores, poststratified, ppi_mean, rogan_gladen, rogan_gladen_difference,
};
use jurat_format::value::{Val, Value};

use super::input::{Input, number as read_number};
use super::output::{maybe, number, or_null, with_interval};
use crate::object;

pub(super) fn call(name: &str, input: &Input<'_, '_>) -> Option<Result<Value, String>> {
    let call: fn(Input<'_, '_>) -> Result<Value, String> = match name {
        "cohen_kappa" => kappa,
        "label_scores" => |it| {
            let scores = label_scores(&matrix(it)?, it.confidence()?);
            let written = scores.into_iter().map(|it| {
                object([
                    ("precision", or_null(it.precision, share)),
                    ("recall", or_null(it.recall, share)),
                    ("f1", or_null(it.f1, share)),
                ])
            });
            Ok(Val::List(written.collect()))
        },
        "krippendorff_alpha" => alpha,
        "gwet_ac1" => ac1,
        "rogan_gladen" => corrected_rate,
        "rogan_gladen_difference" => |it| {
            let found =
                rogan_gladen_difference(it.number("difference")?, it.number("se")?, record(it)?, it.confidence()?);
            Ok(or_null(found, estimate))
        },
        "ppi_mean" => |it| {
            let (human, judged, rest) =
                (it.numbers("human")?, it.numbers("judge_labelled")?, it.numbers("judge_rest")?);
            Ok(or_null(ppi_mean(&human, &judged, &rest, it.confidence()?), |it| {
                let members = [("weight", number(it.weight)), ("estimate", number(it.estimate)), ("se", number(it.se))];
                with_interval(members, Some(it.interval))
            }))
        },
        "poststratified" => |it| {
            let stratum = |it: &Val<'_>| {
                let it = Input(it);
                Ok(Stratum { cases: it.whole("cases")?, labels: it.tally("human_pass", "labelled")? })
            };
            let strata: Vec<Stratum> = it.list("strata")?.iter().map(stratum).collect::<Result<_, String>>()?;
            Ok(or_null(poststratified(&strata, it.confidence()?), estimate))
        },
        _ => return None,
    };
    Some(call(*input))
}

fn matrix(input: Input<'_, '_>) -> Result<Confusion, String> {
    let row = |it: &Val<'_>| it.as_list().unwrap_or(&[]).iter().map(read_number).collect::<Result<Vec<f64>, _>>();
    let rows = input.list("matrix")?.iter().map(row).collect::<Result<_, String>>()?;
    Confusion::new(rows).ok_or_else(|| "`matrix` is not square".to_owned())
}

fn share(it: Share) -> Value {
    with_interval([("value", number(it.value))], Some(it.interval))
}

fn estimate(it: Corrected) -> Value {
    with_interval([("estimate", number(it.estimate)), ("se", number(it.se))], Some(it.interval))
}

fn kappa(input: Input<'_, '_>) -> Result<Value, String> {
    let weights = match input.text("weights")? {
        "none" => Weights::None,
        "linear" => Weights::Linear,
        "quadratic" => Weights::Quadratic,
        other => return Err(format!("there are no weights `{other}`")),
    };
    Ok(or_null(cohen_kappa(&matrix(input)?, weights, input.confidence()?), |it| {
        let members = [
            ("kappa", maybe(it.kappa)),
            ("se", maybe(it.se)),
            ("observed", number(it.observed)),
            ("expected", number(it.expected)),
        ];
        with_interval(members, it.interval)
    }))
}

/// Ratings by case and rater; null where a rater gave none.
fn ratings<'c, 'v, T>(
    input: Input<'c, 'v>,
    read: impl Fn(&'c Val<'v>) -> Result<T, String>,
) -> Result<Vec<Vec<Option<T>>>, String> {
    let rating = |it: &'c Val<'v>| if matches!(it, Val::Null) { Ok(None) } else { read(it).map(Some) };
    input.list("ratings")?.iter().map(|unit| unit.as_list().unwrap_or(&[]).iter().map(rating).collect()).collect()
}

fn alpha(input: Input<'_, '_>) -> Result<Value, String> {
    let level = match input.text("level")? {
        "nominal" => Level::Nominal,
        "ordinal" => Level::Ordinal,
        "interval" => Level::Interval,
        other => return Err(format!("there is no level `{other}`")),
    };
    let found = krippendorff_alpha(&ratings(input, read_number)?, level, input.confidence()?);
    let members = [("alpha", maybe(found.alpha)), ("units", Val::from(found.units)), ("se", maybe(found.se))];
    Ok(with_interval(members, found.interval))
}

fn ac1(input: Input<'_, '_>) -> Result<Value, String> {
    let labels = input.list("labels")?;
    let index = |it: &Val<'_>| labels.iter().position(|label| label == it).ok_or_else(|| format!("{it} is no label"));
    let found = gwet_ac1(&ratings(input, index)?, labels.len(), input.confidence()?);
    Ok(or_null(found, |it| with_interval([("ac1", number(it.ac1)), ("se", maybe(it.se))], it.interval)))
}

fn record(input: Input<'_, '_>) -> Result<JudgeRecord, String> {
    let tally = |passed, judged| -> Result<Tally, String> { input.tally(passed, judged) };
    Ok(JudgeRecord { sensitivity: tally("true_pass", "human_pass")?, specificity: tally("true_fail", "human_fail")? })
}

fn corrected_rate(input: Input<'_, '_>) -> Result<Value, String> {
    let found = rogan_gladen(input.tally("passed", "judged")?, record(input)?, input.confidence()?);
    Ok(or_null(found, |it| {
        let members = [
            ("observed", number(it.observed)),
            ("sensitivity", number(it.sensitivity)),
            ("specificity", number(it.specificity)),
            ("youden", number(it.youden)),
            ("estimate", maybe(it.corrected.map(|it| it.estimate))),
            ("se", maybe(it.corrected.map(|it| it.se))),
        ];
        with_interval(members, it.corrected.map(|it| it.interval))
    }))
}
