//! Differences, intervals and p values in words.

use jurat_core::contrast::{About, Line};
use jurat_core::statistics::Interval;

/// `+7.6`, `−3.1`, `0.0`: a share in points, with its sign.
pub(super) fn points(share: f64) -> String {
    signed(share * 100.0, 1)
}

/// A number with its sign. What rounds to 0 has none.
pub(super) fn signed(number: f64, places: usize) -> String {
    let size = format!("{:.places$}", number.abs());
    let is_zero = size.chars().all(|it| matches!(it, '0' | '.'));
    match (is_zero, number < 0.0) {
        (true, _) => size,
        (_, true) => format!("−{size}"),
        (_, false) => format!("+{size}"),
    }
}

/// A share in points without its sign.
pub(super) fn size(share: f64) -> String {
    format!("{:.1}", share.abs() * 100.0)
}

/// `0.021`, `0.63`, `< 0.001`: two significant digits.
pub fn p(p: f64) -> String {
    // Rounded first: 0.0999 is 0.10, not 0.100.
    match format!("{p:.1e}").parse().unwrap_or(p) {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.01 => format!("{p:.4}"),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// `p = 0.021`, `p < 0.001`
pub(super) fn p_phrase(value: f64) -> String {
    let text = p(value);
    if text.starts_with('<') { format!("p {text}") } else { format!("p = {text}") }
}

/// `+1.4 – +14.8`
pub fn interval(line: &Line, interval: Interval) -> String {
    let Interval { low, high } = interval;
    match &line.about {
        about if about.is_rate() => format!("{} – {}", points(low), points(high)),
        About::Score { .. } => format!("{} – {}", signed(low, 2), signed(high, 2)),
        _ => format!("{low:.2} – {high:.2}"),
    }
}

/// `+7.6`, or the ratio of amounts: `0.83`
pub fn difference(line: &Line, difference: f64) -> String {
    match &line.about {
        about if about.is_rate() => points(difference),
        About::Score { .. } => signed(difference, 2),
        _ => format!("{difference:.2}"),
    }
}

/// `95 %`
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.fract().abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
