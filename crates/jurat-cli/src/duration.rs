//! Times as people write them: `30s`, `5m`, `1.5h`, `7d`.

use std::time::Duration;

const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];

/// Reads a time.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write a number and `ms`, `s`, `m`, `h` or `d`, for example `30s`");
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit) && ends_in_number(text, unit)).ok_or_else(wrong)?;
    let number: f64 = text[..text.len() - unit.0.len()].trim().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * unit.1).map_err(|_| wrong())
}

fn ends_in_number(text: &str, unit: &str) -> bool {
    text[..text.len() - unit.len()].trim_end().ends_with(|it: char| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_a_number_and_a_unit() {
        for (text, millis) in
            [("250ms", 250), ("30s", 30_000), ("1.5h", 5_400_000), ("7d", 604_800_000), ("2 m", 120_000)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "-1s", "1w", "1e400s", "m5"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
