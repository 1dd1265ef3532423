//! Distributions, and intervals of one side.

use jurat_core::statistics::{
    beta_cdf, beta_quantile, clopper_pearson, cluster_mean, effective_rate, normal_quantile, normal_sf,
    quantile_interval, student_quantile, student_two_sided, wilson,
};
use jurat_format::value::{Val, Value};

use super::input::Input;
use super::output::{interval, maybe, number, or_null, with_interval};
use crate::object;

pub(super) fn call(name: &str, input: &Input<'_, '_>) -> Option<Result<Value, String>> {
    let call: fn(Input<'_, '_>) -> Result<Value, String> = match name {
        "normal_quantile" => |it| Ok(number(normal_quantile(it.number("p")?))),
        "normal_sf" => |it| Ok(number(normal_sf(it.number("x")?))),
        "student_quantile" => |it| Ok(number(student_quantile(it.number("p")?, it.number("df")?))),
        "student_two_sided" => |it| Ok(number(student_two_sided(it.number("t")?, it.number("df")?))),
        "beta_cdf" => |it| Ok(number(beta_cdf(it.number("a")?, it.number("b")?, it.number("x")?))),
        "beta_quantile" => |it| Ok(number(beta_quantile(it.number("a")?, it.number("b")?, it.number("p")?))),
        "wilson" => |it| Ok(or_null(wilson(it.whole("passed")?, it.whole("judged")?, it.confidence()?), interval)),
        "clopper_pearson" => |it| {
            let found = clopper_pearson(it.number("passed")?, it.number("judged")?, it.confidence()?, it.side()?);
            Ok(or_null(found, interval))
        },
        "effective_rate" => rate_of_clusters,
        "cluster_mean" => mean_of_clusters,
        "quantile_interval" => quantile_of_values,
        _ => return None,
    };
    Some(call(*input))
}

fn rate_of_clusters(input: Input<'_, '_>) -> Result<Value, String> {
    let found = effective_rate(&input.tallies("passed", "judged")?, input.confidence()?, input.side()?);
    Ok(or_null(found, |it| with_interval([("rate", number(it.rate)), ("effective", maybe(it.effective))], it.interval)))
}

fn mean_of_clusters(input: Input<'_, '_>) -> Result<Value, String> {
    let found = cluster_mean(&input.numbers("values")?, &input.clusters()?, input.confidence()?);
    Ok(or_null(found, |it| {
        let members = [
            ("mean", number(it.mean)),
            ("n", Val::from(it.n)),
            ("clusters", Val::from(it.clusters)),
            ("se_cr0", maybe(it.spread.map(|it| it.cr0.sqrt()))),
            ("se_cr1", maybe(it.spread.map(|it| it.cr1.sqrt()))),
            ("se_cr2", maybe(it.spread.map(|it| it.cr2.sqrt()))),
            ("df", maybe(it.spread.map(|it| it.df))),
        ];
        with_interval(members, it.interval)
    }))
}

fn quantile_of_values(input: Input<'_, '_>) -> Result<Value, String> {
    let found = quantile_interval(&input.numbers("values")?, input.number("q")?, input.confidence()?);
    Ok(or_null(found, |it| object([("value", number(it.value)), ("low", maybe(it.low)), ("high", maybe(it.high))])))
}
