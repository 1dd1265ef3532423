//! How much data a question needs, repetition, stopping and gates.

use jurat_core::gate::{Bounds, Decided, GateVerdict, Wants, condition_verdict, overall};
use jurat_core::statistics::{
    Beyond, Tally, bca, cs_empirical_bernstein, cs_mean, cs_rate, e_mean, e_paired, e_rate, hedged_capital, mde_mean,
    mde_paired, more_pairs, pairs_needed, pairs_needed_not_worse, pass_all_k, pass_at_k, power_paired, repeats,
    rows_needed, variance_components,
};
use jurat_format::value::{Val, Value};

use super::input::{Input, number as read_number};
use super::output::{interval, maybe, number, numbers, or_null};
use crate::object;

pub(super) fn call(name: &str, input: &Input<'_, '_>) -> Option<Result<Value, String>> {
    let call: fn(Input<'_, '_>) -> Result<Value, String> = match name {
        "mde_paired" | "pairs_needed" | "power_paired" | "mde_mean" => return Some(planned(name, *input)),
        "pairs_needed_not_worse" => |it| {
            let (margin, difference, discordance) =
                (it.number("margin")?, it.number("difference")?, it.number("discordance")?);
            Ok(rows(pairs_needed_not_worse(margin, difference, discordance, it.confidence()?, it.number("power")?)))
        },
        "rows_needed" => |it| {
            let found =
                rows_needed(it.number("threshold")?, it.number("expected")?, it.confidence()?, it.number("power")?);
            Ok(or_null(found, |it| object([("rows", Val::from(it.rows)), ("passes", Val::from(it.passes))])))
        },
        "more_pairs" => more,
        "pass_at_k" => |it| Ok(maybe(pass_at_k(it.tally("passed", "judged")?, it.whole("k")?))),
        "pass_all_k" => |it| Ok(maybe(pass_all_k(it.tally("passed", "judged")?, it.whole("k")?))),
        "repeats" => repeated,
        "variance_components" => components,
        "e_rate" => evidence_of_rate,
        "e_paired" => |it| Ok(numbers(e_paired(&it.numbers("differences")?, it.number("null")?, it.number("toward")?))),
        "e_mean" => |it| {
            let beyond = if it.text("side")? == "above" { Beyond::Above } else { Beyond::Below };
            Ok(numbers(e_mean(&it.numbers("values")?, it.number("null")?, beyond)))
        },
        "hedged_capital" => {
            |it| Ok(numbers(hedged_capital(&it.numbers("values")?, it.number("null")?, it.confidence()?)))
        }
        "cs_rate" => |it| Ok(interval(cs_rate(it.whole("passed")?, it.whole("failed")?, it.confidence()?))),
        "cs_mean" => |it| Ok(or_null(cs_mean(&it.numbers("values")?, it.confidence()?), interval)),
        "cs_empirical_bernstein" => |it| {
            let found = cs_empirical_bernstein(&it.numbers("values")?, it.confidence()?);
            let (low, high) = (found.iter().map(|it| it.low), found.iter().map(|it| it.high));
            Ok(object([("low", numbers(low)), ("high", numbers(high))]))
        },
        "bca" => |it| {
            let (replicates, jackknife) = (it.numbers("replicates")?, it.numbers("jackknife")?);
            Ok(or_null(bca(it.number("estimate")?, &replicates, &jackknife, it.confidence()?), interval))
        },
        "gate_condition" => condition,
        "gate_verdict" => verdict,
        _ => return None,
    };
    Some(call(*input))
}

fn planned(name: &str, input: Input<'_, '_>) -> Result<Value, String> {
    let alpha = input.number("alpha")?;
    Ok(match name {
        "mde_paired" => {
            maybe(mde_paired(input.whole("pairs")?, input.number("discordance")?, alpha, input.number("power")?))
        }
        "pairs_needed" => {
            rows(pairs_needed(input.number("difference")?, input.number("discordance")?, alpha, input.number("power")?))
        }
        "power_paired" => {
            let (discordance, difference) = (input.number("discordance")?, input.number("difference")?);
            maybe(power_paired(input.whole("pairs")?, discordance, difference, alpha))
        }
        _ => maybe(mde_mean(input.whole("n")?, input.number("sd")?, alpha, input.number("power")?)),
    })
}

fn rows(found: Option<u64>) -> Value {
    or_null(found, Val::from)
}

fn more(input: Input<'_, '_>) -> Result<Value, String> {
    let found = more_pairs(input.flips()?, input.number("margin")?, input.confidence()?, input.number("power")?);
    Ok(or_null(found, |it| {
        object([
            ("total", Val::from(it.total)),
            ("more", Val::from(it.more)),
            ("towards", Val::from(it.towards.as_str())),
        ])
    }))
}

fn repeated(input: Input<'_, '_>) -> Result<Value, String> {
    let tally = |it: &Val<'_>| match it.as_list() {
        Some([judged, passed]) => {
            Ok(Tally { passed: read_number(passed)? as u64, judged: read_number(judged)? as u64 })
        }
        _ => Err(format!("{it} is not a pair of counts")),
    };
    let cases: Vec<Tally> = input.list("cases")?.iter().map(tally).collect::<Result<_, String>>()?;
    let found = repeats(&cases, input.whole("k")?);
    Ok(object([
        ("pass_at_k", maybe(found.pass_at_k)),
        ("pass_all_k", maybe(found.pass_all_k)),
        ("cases", Val::from(found.cases)),
        ("too_few", Val::from(found.too_few)),
        ("flaky", Val::from(found.flaky)),
    ]))
}

fn components(input: Input<'_, '_>) -> Result<Value, String> {
    let group = |it: &Val<'_>| it.as_list().unwrap_or(&[]).iter().map(read_number).collect::<Result<Vec<f64>, _>>();
    let groups: Vec<Vec<f64>> = input.list("groups")?.iter().map(group).collect::<Result<_, String>>()?;
    Ok(or_null(variance_components(&groups), |it| {
        object([
            ("mean", number(it.mean)),
            ("between", maybe(it.between)),
            ("within", maybe(it.within)),
            ("icc", maybe(it.icc)),
            ("se_these", maybe(it.se_these)),
            ("se_such", maybe(it.se_such)),
        ])
    }))
}

fn evidence_of_rate(input: Input<'_, '_>) -> Result<Value, String> {
    let (passed, failed) = (input.whole("passed")?, input.whole("failed")?);
    let found = e_rate(passed, failed, input.number("threshold")?, input.maybe("expected")?);
    Ok(or_null(found, |it| {
        object([
            ("ln_above", number(it.ln_above)),
            ("ln_below", number(it.ln_below)),
            ("ln_hopeless", maybe(it.ln_hopeless)),
        ])
    }))
}

fn condition(input: Input<'_, '_>) -> Result<Value, String> {
    let wants = match input.text("wants")? {
        "at_least" => Wants::AtLeast,
        "at_most" => Wants::AtMost,
        "more_than" | "better" => Wants::MoreThan,
        other => return Err(format!("nothing wants `{other}`")),
    };
    let bounds = Bounds { low: input.maybe("low")?, high: input.maybe("high")? };
    Ok(Val::from(condition_verdict(bounds, input.number("bound")?, wants).name()))
}

fn verdict(input: Input<'_, '_>) -> Result<Value, String> {
    let condition = |it: &Val<'_>| {
        let it = Input(it);
        let verdict = match it.text("verdict")? {
            "pass" => GateVerdict::Pass,
            "fail" => GateVerdict::Fail,
            _ => GateVerdict::Undecided,
        };
        let advisory = it.0.get("advisory").is_some_and(|it| *it == Val::Bool(true));
        Ok(Decided { verdict, p_fail: it.maybe("p_fail")?, advisory })
    };
    let conditions: Vec<Decided> = input.list("conditions")?.iter().map(condition).collect::<Result<_, String>>()?;
    let found = overall(&conditions, input.number("alpha")?);
    let words = found.verdicts.iter().map(|it| Val::from(it.name())).collect();
    Ok(object([("conditions", Val::List(words)), ("verdict", Val::from(found.verdict.name()))]))
}
