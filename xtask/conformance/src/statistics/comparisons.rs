//! Two sides, and several comparisons.

use jurat_core::statistics::{
    Pairs, RowTally, benjamini_hochberg, effective_difference, fisher, flip_odds, holm, mcnemar, newcombe_paired,
    newcombe_unpaired, paired_difference, pooled_difference, ratio_of_means, sign_flip, tango, tango_test, tiers,
    wilcoxon,
};
use jurat_format::value::{Val, Value};

use super::input::Input;
use super::output::{difference, maybe, number, numbers, or_null, with_interval};
use crate::object;

pub(super) fn call(name: &str, input: &Input<'_, '_>) -> Option<Result<Value, String>> {
    let call: fn(Input<'_, '_>) -> Result<Value, String> = match name {
        "newcombe_paired" => |it| Ok(or_null(newcombe_paired(pairs(it)?, it.confidence()?), difference)),
        "newcombe_unpaired" => |it| {
            let (base, new) = (it.tally("base_passed", "base_judged")?, it.tally("new_passed", "new_judged")?);
            Ok(or_null(newcombe_unpaired(base, new, it.confidence()?), difference))
        },
        "fisher" => |it| {
            let (base, new) = (it.tally("base_passed", "base_judged")?, it.tally("new_passed", "new_judged")?);
            Ok(maybe(fisher(base, new)))
        },
        "tango" => |it| Ok(or_null(tango(it.flips()?, it.confidence()?), difference)),
        "tango_test" => |it| {
            let found = tango_test(it.flips()?, it.number("margin")?);
            Ok(or_null(found, |it| object([("z", number(it.z)), ("p", number(it.p))])))
        },
        "mcnemar" => mcnemar_values,
        "flip_odds" => |it| {
            let found = flip_odds(it.whole("only_base")?, it.whole("only_new")?, it.confidence()?);
            Ok(or_null(found, |it| with_interval([("ratio", maybe(it.ratio))], Some(it.interval))))
        },
        "paired_difference" => difference_of_pairs,
        "sign_flip" => |it| {
            let found = sign_flip(&it.numbers("sums")?);
            Ok(or_null(found, |it| object([("exact", number(it.exact)), ("mid_p", number(it.mid_p))])))
        },
        "wilcoxon" => wilcoxon_values,
        "effective_difference" => difference_of_clusters,
        "pooled_difference" => difference_of_rows,
        "ratio_of_means" => |it| {
            let (base, new) = (it.numbers("base")?, it.numbers("new")?);
            let found = ratio_of_means(&base, &new, &it.clusters()?, it.confidence()?);
            Ok(or_null(found, |it| with_interval([("ratio", number(it.ratio))], it.interval)))
        },
        "holm" => |it| Ok(numbers(holm(&it.numbers("p")?))),
        "benjamini_hochberg" => |it| Ok(numbers(benjamini_hochberg(&it.numbers("p")?))),
        "tiers" => sides_in_tiers,
        _ => return None,
    };
    Some(call(*input))
}

fn pairs(input: Input<'_, '_>) -> Result<Pairs, String> {
    Ok(Pairs {
        both: input.whole("both")?,
        only_base: input.whole("only_base")?,
        only_new: input.whole("only_new")?,
        neither: input.whole("neither")?,
    })
}

fn mcnemar_values(input: Input<'_, '_>) -> Result<Value, String> {
    let found = mcnemar(input.whole("only_base")?, input.whole("only_new")?);
    Ok(object([
        ("exact", number(found.exact)),
        ("mid_p", number(found.mid_p)),
        ("exact_better", number(found.exact_better)),
        ("mid_p_better", number(found.mid_p_better)),
        ("exact_worse", number(found.exact_worse)),
        ("mid_p_worse", number(found.mid_p_worse)),
    ]))
}

fn difference_of_pairs(input: Input<'_, '_>) -> Result<Value, String> {
    let found = paired_difference(input.flips()?, input.confidence()?);
    Ok(or_null(found, |it| {
        let members =
            [("difference", number(it.difference)), ("p", number(it.p)), ("word", Val::from(it.word.as_str()))];
        with_interval(members, Some(it.interval))
    }))
}

fn wilcoxon_values(input: Input<'_, '_>) -> Result<Value, String> {
    let found = wilcoxon(&input.numbers("differences")?);
    Ok(object([
        ("n", Val::from(found.n)),
        ("w_plus", number(found.w_plus)),
        ("w_minus", number(found.w_minus)),
        ("exact", maybe(found.exact)),
        ("normal", number(found.normal)),
        ("rank_biserial", maybe(found.rank_biserial)),
    ]))
}

fn difference_of_clusters(input: Input<'_, '_>) -> Result<Value, String> {
    let found = effective_difference(&input.numbers("differences")?, &input.clusters()?, input.confidence()?);
    Ok(or_null(found, |it| {
        let members = [
            ("difference", number(it.difference)),
            ("discordance", number(it.discordance)),
            ("clusters", Val::from(it.clusters)),
            ("effective", maybe(it.effective)),
            ("p", maybe(it.p)),
        ];
        with_interval(members, it.interval)
    }))
}

fn difference_of_rows(input: Input<'_, '_>) -> Result<Value, String> {
    let (base, new) = (input.tallies("base_passed", "base_judged")?, input.tallies("new_passed", "new_judged")?);
    let rows: Vec<RowTally> = base.into_iter().zip(new).map(|(base, new)| RowTally { base, new }).collect();
    Ok(or_null(pooled_difference(&rows, input.confidence()?), |it| {
        let members = [("difference", number(it.difference)), ("se", maybe(it.se)), ("df", maybe(it.df))];
        with_interval(members, it.interval)
    }))
}

fn sides_in_tiers(input: Input<'_, '_>) -> Result<Value, String> {
    let names = input.texts("names")?;
    let found = tiers(&input.numbers("rates")?, &input.numbers("p")?, input.number("alpha")?);
    let named = |tier: Vec<usize>| Val::List(tier.into_iter().map(|ix| Val::from(names[ix].to_owned())).collect());
    Ok(or_null(found, |tiers| Val::List(tiers.into_iter().map(named).collect())))
}
