//! Statistics: a function of the core applied to an input, within the tolerance that the case gives.

mod agreement;
mod comparisons;
mod input;
mod output;
mod pairing;
mod planning;
mod rates;

use jurat_format::value::{Val, Value};

use self::input::Input;
use super::{Answer, agree, compared, part, text_part};

/// A function by its name; `None` where the group has no such function.
type Group = fn(&str, &Input<'_, '_>) -> Option<Result<Value, String>>;

const GROUPS: &[Group] = &[rates::call, comparisons::call, planning::call, agreement::call, pairing::call];

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let name = text_part(case, "fn")?;
    let input = Input(part(case, "input")?);
    let got = GROUPS
        .iter()
        .find_map(|group| group(name, &input))
        .ok_or_else(|| format!("there is no function `{name}`"))??;
    let tolerance = Input(part(case, "tol")?);
    let (relative, absolute) = (tolerance.number("rel")?, tolerance.number("abs")?);
    let near = |want: f64, got: f64| (got - want).abs() <= absolute + relative * want.abs();
    Ok(compared(case, part(case, "expect")?, &got, |expected, got| agree(expected, got, &near)))
}
