//! Outcome criteria: evaluated over recorded results, and the short ways to make them.

use std::borrow::Cow;

use jurat_compare::normalise::Normaliser;
use jurat_core::outcome::{self, Check, CrossComparison, Nodes, Scope, TurnFilter, Wanted, all_turns_of, any_turn_of};
use jurat_format::value::{Map, Val, Value};

use super::{Answer, compared, error, fault, part, same, text_part, with_node};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let got = match text_part(input, "op")? {
        "evaluate" => evaluated(case, input)?,
        // What a helper does not take is no definition.
        "sugar" => sugar(input).unwrap_or_else(|_| error("invalid_definition")),
        other => return Err(format!("there is no operation `{other}`")),
    };
    Ok(compared(case, part(case, "expect")?, &got, same))
}

fn evaluated(case: &Val<'_>, input: &Val<'_>) -> Result<Value, String> {
    let Ok(check) = stored_check(part(input, "check")?)? else { return Ok(error("invalid_definition")) };
    // A stored form that does not read back as the same check would lose it.
    for form in [check.to_stored(), check.to_checkpoint()] {
        if stored_check(&form)?.as_ref() != Ok(&check) {
            return Err(format!("{form} reads back as another check"));
        }
    }
    let outcome = check.evaluate(&evidence(part(input, "result")?));
    if let Some(stored) = case.get("stored")
        && *stored != outcome::stored(outcome.clone())
    {
        return Err("what `outcome_results` keeps differs".to_owned());
    }
    Ok(outcome.unwrap_or_else(|it| fault(it.fault)))
}

/// The result as our evidence has it: what was read from an answer is called `parsed`.
fn evidence<'v>(result: &Val<'v>) -> Val<'v> {
    let renamed = |turn: &Val<'v>| match turn {
        Val::Map(turn) => {
            let name = |key: &str| if key == "parsed_fields" { "parsed".to_owned() } else { key.to_owned() };
            Val::Map(turn.iter().map(|(key, value)| (name(key), value.clone())).collect())
        }
        other => other.clone(),
    };
    let member = |(key, value): (&str, &Val<'v>)| {
        let value = match (key, value) {
            ("history", Val::List(turns)) => turns.iter().map(renamed).collect(),
            (_, value) => value.clone(),
        };
        (Cow::Owned(key.to_owned()), value)
    };
    let mut evidence: Map<'v> = result.as_map().into_iter().flat_map(Map::iter).map(member).collect();
    // Outcomes are decided before there are results of outcomes.
    if evidence.get("outcome_results").is_none() {
        evidence.insert(Cow::Borrowed("outcome_results"), Val::Map(Map::default()));
    }
    Val::Map(evidence)
}

fn stored_check(check: &Val<'_>) -> Result<Result<Check, String>, String> {
    with_node(check, |node| Check::from_stored(node).map_err(|error| error.to_string()))
}

fn stored_scope(scope: &Val<'_>) -> Result<Scope, String> {
    with_node(scope, |node| Scope::from_stored(node).map_err(|error| error.to_string()))?
}

/// A helper, called with what the case says.
fn sugar(input: &Val<'_>) -> Result<Value, String> {
    let name = text_part(input, "fn")?;
    let positional = input.get("positional").and_then(Val::as_list).unwrap_or(&[]);
    let argument = |key: &str| input.get("args").and_then(|it| it.get(key)).filter(|it| **it != Val::Null);
    let count = |ix: usize| match positional.get(ix) {
        Some(Val::I(number)) => Ok(*number),
        _ => Err(format!("`{name}` wants a whole number")),
    };
    let size = |ix| u64::try_from(count(ix)?).map_err(|error| error.to_string());
    let checks = |from: usize| {
        let checks = positional.get(from..).unwrap_or(&[]).iter();
        checks.map(|it| stored_check(it)?).collect::<Result<Vec<Check>, String>>()
    };
    let fields = || {
        let fields = input.get("fields").and_then(Val::as_map).map(|it| it.iter().collect::<Vec<_>>());
        fields
            .unwrap_or_default()
            .into_iter()
            .map(|(field, value)| (field, Wanted::equal_to(value.clone().into_owned())))
    };
    let filter = || -> Result<TurnFilter, String> {
        let verify_result = match argument("verify_result") {
            None => None,
            Some(Val::Bool(value)) => Some(*value),
            Some(_) => return Err("`verify_result` wants true or false".to_owned()),
        };
        Ok(TurnFilter { nodes: nodes(argument("node"))?, verify_result })
    };
    let check = match name {
        "all_of" => outcome::all_of(checks(0)?),
        "any_of" => outcome::any_of(checks(0)?),
        "at_least_n" => outcome::at_least_n(size(0)?, checks(1)?),
        "first_turn" => outcome::first_turn(fields()),
        "last_turn" => outcome::last_turn(fields()),
        "any_turn" => any_turn_of(nodes(argument("node"))?, fields()),
        "all_turns" => all_turns_of(nodes(argument("node"))?, fields()),
        "status_is" => outcome::status_is(positional.first().and_then(Val::as_str).unwrap_or_default()),
        "turn_count_eq" => outcome::turn_count_eq(count(0)?),
        "turn_count_gte" => outcome::turn_count_gte(count(0)?),
        "count_turns" => outcome::count_turns(filter()?),
        "first_match_index" => outcome::first_match_index(filter()?),
        "cross_turn" => cross_turn(part(input, "args")?)?,
        "turn_at" => return Ok(outcome::turn_at(count(0)?).to_stored()),
        "first_turn_scope" => return Ok(outcome::first_turn_scope().to_stored()),
        "last_turn_scope" => return Ok(outcome::last_turn_scope().to_stored()),
        other => return Err(format!("there is no helper `{other}`")),
    };
    Ok(check.to_stored())
}

fn nodes(named: Option<&Val<'_>>) -> Result<Nodes, String> {
    match named {
        None => Ok(Nodes::Every),
        Some(Val::Str(node)) => Ok(Nodes::from(&**node)),
        Some(Val::List(nodes)) => {
            let nodes = nodes.iter().map(|it| it.as_str().map(str::to_owned)).collect::<Option<_>>();
            nodes.map(Nodes::Of).ok_or_else(|| "`node` wants texts".to_owned())
        }
        Some(_) => Err("`node` wants text, or a list of texts".to_owned()),
    }
}

fn cross_turn(args: &Val<'_>) -> Result<Check, String> {
    let named = text_part(args, "comparison")?;
    let comparison = CrossComparison::NAMED.iter().find(|(name, _)| *name == named);
    let (_, comparison) = comparison.ok_or_else(|| format!("there is no comparison `{named}`"))?;
    let normalize = match args.get("normalize") {
        None | Some(Val::Null) => Vec::new(),
        Some(list) => with_node(list, |node| {
            node.as_list().unwrap_or(&[]).iter().map(Normaliser::read).collect::<Result<Vec<_>, _>>()
        })??,
    };
    let source = (stored_scope(part(args, "source")?)?, text_part(args, "source_field")?);
    let target = (stored_scope(part(args, "target")?)?, text_part(args, "target_field")?);
    Ok(outcome::cross_turn(source, target, *comparison, normalize))
}
