//! Conditions on what cases take: cost, tokens, latency.

use jurat_core::gate::{Bounds, GateVerdict, Limit, Wants};
use jurat_core::statistics::{Clusters, Confidence, amount_mean, amount_ratio, quantile_interval};
use jurat_store::run::Column;

use super::bounds::{bounds_of, rows_for_interval};
use super::words::range;
use super::{Found, Gating};
use crate::contrast::CompareError;
use crate::contrast::contrasting::Part;
use crate::contrast::spending::amounts;
use crate::contrast::table::Amount;

/// What cases take, as a gate may limit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amounts {
    Cost,
    Tokens,
    Latency,
    LatencyP95,
}

impl Amounts {
    /// The mean over the repetitions of a unit; `None` where it is not known.
    pub(super) fn of_unit(self, amounts: &[Amount]) -> Option<f64> {
        let one = |it: &Amount| match self {
            Amounts::Cost => (it.unpriced == 0).then_some(it.usd),
            Amounts::Tokens => Some((it.input + it.output) as f64),
            Amounts::Latency | Amounts::LatencyP95 => Some(it.seconds * 1e3),
        };
        let known: Vec<f64> = amounts.iter().map(one).collect::<Option<_>>()?;
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Amounts::Cost => "the cost",
            Amounts::Tokens => "the number of tokens",
            Amounts::Latency | Amounts::LatencyP95 => "the latency",
        }
    }

    pub(super) fn shown(self, amount: f64) -> String {
        match self {
            Amounts::Cost => format!("${amount:.4}"),
            Amounts::Tokens => format!("{amount:.0} tokens"),
            Amounts::Latency | Amounts::LatencyP95 => format!("{amount:.0} ms"),
        }
    }
}

impl Gating<'_> {
    /// What cases take: a mean or a quantile of NEW, or a ratio.
    pub(super) fn amount(
        &self,
        part: &Part,
        limit: Limit,
        confidence: Confidence,
        what: Amounts,
    ) -> Result<Found, CompareError> {
        let both = confidence.two_sided().unwrap_or(confidence);
        let contrasting = if limit.of_base { self.pair } else { Some(self.own) };
        let Some(contrasting) = contrasting else { return Ok(Found::default()) };
        let (mut base, mut new, mut clusters, mut unknown) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let asked = contrasting.asked();
        contrasting.each_in(part, Column::CASE, |unit, cluster, _, _| {
            let cases = contrasting.cases(unit);
            let of = |side: usize| what.of_unit(&amounts(asked[side], cases[side], |it| it.subject));
            match (of(0), of(1)) {
                (Some(was), Some(now)) => {
                    base.push(was);
                    new.push(now);
                    clusters.push(cluster);
                }
                _ => unknown += 1,
            }
        })?;
        if new.is_empty() {
            let reason = format!("{} is not known of any case", what.name());
            return Ok(Found { reason, counted: Some(GateVerdict::Undecided), ..Found::default() });
        }
        let clusters = Clusters::by_key(&clusters);
        let (value, bounds) = match (what, limit.of_base) {
            (Amounts::Latency, true) => {
                let ratios: Vec<f64> = base.iter().zip(&new).filter(|it| *it.0 > 0.0).map(|it| it.1 / it.0).collect();
                of_quantile(&ratios, 0.5, both)
            }
            (_, true) => {
                let found = amount_ratio(&base, &new, &clusters, both);
                (found.map(|it| it.ratio), bounds_of(found.and_then(|it| it.interval)))
            }
            (Amounts::LatencyP95, false) => of_quantile(&new, 0.95, both),
            (_, false) => {
                let found = amount_mean(&new, &clusters, both);
                (found.map(|it| it.mean), bounds_of(found.and_then(|it| it.interval)))
            }
        };
        let shown = |it: f64| if limit.of_base { format!("{it:.2} times BASE") } else { what.shown(it) };
        let reason =
            if unknown > 0 { format!("{unknown} cases without a known amount are not counted") } else { String::new() };
        Ok(Found {
            value,
            bounds,
            words: format!("{}, {}", value.map_or_else(|| "nothing".to_owned(), shown), range(bounds, shown)),
            wanted: limit.at_most,
            wanted_words: format!("at most {}", shown(limit.at_most)),
            reason,
            wants: Some(Wants::AtMost),
            pairs: new.len() as u64,
            needed: value.map(|value| rows_for_interval(value, bounds, limit.at_most, new.len() as u64, confidence)),
            ..Found::default()
        })
    }
}

fn of_quantile(values: &[f64], q: f64, confidence: Confidence) -> (Option<f64>, Bounds) {
    let found = quantile_interval(values, q, confidence);
    let bounds = found.map_or_else(Bounds::default, |it| Bounds { low: it.low, high: it.high });
    (found.map(|it| it.value), bounds)
}
