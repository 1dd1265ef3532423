//! Numbers of the command line, with errors that say what is wrong with them.

use std::num::NonZeroUsize;

/// A number of things, which may be none.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| match text.parse::<f64>() {
        Ok(number) if number < 0.0 => "must not be negative".to_owned(),
        Ok(number) if number.is_finite() => "must be a whole number".to_owned(),
        _ => format!("`{text}` is not a number"),
    })
}

/// A number of things, of which there is at least one.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    let count = usize::try_from(count(text)?).map_err(|_| format!("`{text}` is too large"))?;
    NonZeroUsize::new(count).ok_or_else(|| "must be at least 1".to_owned())
}

/// How often something is repeated.
pub(crate) fn repetitions(text: &str) -> Result<u32, String> {
    match u32::try_from(count(text)?) {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(n) if n <= MOST_REPETITIONS => Ok(n),
        _ => Err(format!("must be at most {MOST_REPETITIONS}")),
    }
}

const MOST_REPETITIONS: u32 = 10_000;

/// An amount of US dollars.
pub(crate) fn dollars(text: &str) -> Result<f64, String> {
    let usd: f64 = text.trim_start_matches('$').parse().map_err(|_| format!("`{text}` is not a number"))?;
    if usd.is_finite() && usd >= 0.0 {
        Ok(usd)
    } else {
        Err(if usd < 0.0 { "must not be negative".to_owned() } else { format!("`{text}` is not an amount of money") })
    }
}
