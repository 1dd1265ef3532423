//! Numbers and values in words: shares, money, time, and what was found.

use std::borrow::Cow;
use std::time::Duration;

use jurat_core::effect::Usage;
use jurat_core::report::{CaseReport, Cause, RunReport};
use jurat_core::statistics::Interval;
use jurat_format::value::Val;

use crate::visible::visible_line;
use crate::wrap::one_line;

/// What stands where there is no number.
pub(crate) const NONE: &str = "–";

/// `66.7 %`; nothing judged has no rate.
pub fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| NONE.to_owned(), |it| format!("{:.1} %", it * 100.0))
}

/// `20.8–93.9 %`
pub fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |it| format!("{:.1}–{:.1} %", it.low * 100.0, it.high * 100.0))
}

/// `$1.25`, `$0.0120`, `$0.000031`: enough places to distinguish small amounts.
pub fn money(dollars: f64) -> String {
    match dollars {
        0.0 => "$0".to_owned(),
        it if it >= 1.0 => format!("${it:.2}"),
        it if it >= 0.01 => format!("${it:.4}"),
        it if it >= 1e-5 => format!("${it:.6}"),
        it => format!("${}", format!("{it:.9}").trim_end_matches('0')),
    }
}

/// What responses cost, as far as that is known: `$1.25`, `$1.25 and the unknown cost of 3 responses`. Nothing where there are none.
pub fn cost(usd: Option<f64>, n_unpriced: u64) -> Option<String> {
    let unpriced = counted(n_unpriced, "response");
    match usd {
        Some(usd) if n_unpriced > 0 => Some(format!("{} and the unknown cost of {unpriced}", money(usd))),
        Some(usd) => Some(money(usd)),
        None if n_unpriced > 0 => Some(format!("an unknown amount (no price for {unpriced})")),
        None => None,
    }
}

/// The same where there is little room: `$1.25 + 3 unknown`.
pub fn short_cost(usd: Option<f64>, n_unpriced: u64) -> Option<String> {
    let unpriced = format!("{} unknown", grouped(n_unpriced));
    match usd.map(money) {
        Some(usd) if n_unpriced > 0 => Some(format!("{usd} + {unpriced}")),
        None if n_unpriced > 0 => Some(unpriced),
        usd => usd,
    }
}

/// `1,234,567`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (ix, digit) in digits.chars().enumerate() {
        if ix > 0 && (digits.len() - ix).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 warning`, `2 warnings`
pub fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `512 B`, `1.2 kB`, `3.4 MB`, `5.6 GB`
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// `1,200 input and 80 output tokens`
pub(crate) fn tokens(usage: &Usage) -> String {
    format!("{} input and {} output tokens", grouped(usage.input), grouped(usage.output))
}

/// `71 µs`, `2.4 ms`, `1.25 s`, `2 min 5 s`, `3 h 20 min`
pub fn duration(took: Duration) -> String {
    match took.as_micros() {
        micros @ 0..1_000 => format!("{micros} µs"),
        micros @ 1_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        micros @ 1_000_000..60_000_000 => format!("{:.2} s", micros as f64 / 1e6),
        _ => span(took),
    }
}

/// How long ago something was, or how long it will take: `40 s`, `2 min 5 s`, `3 h 20 min`, `12 days`.
pub fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds @ 3_600..172_800 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// A score: whole numbers as they are, others to three places.
pub fn score(score: f64) -> String {
    if score.fract() == 0.0 && score.abs() < 1e15 { format!("{score:.0}") } else { format!("{score:.3}") }
}

/// `3 of 5`
pub(crate) fn part(n: u64, of: u64) -> String {
    format!("{} of {}", grouped(n), grouped(of))
}

/// What there is to say of conversations about which nothing is concluded.
pub(crate) fn unconcluded(run: &RunReport) -> Option<String> {
    let mut own = run.scenarios.iter().filter(|it| !it.is_concluded).peekable();
    own.peek()?;
    let (mut n_scenarios, mut n_verified, mut n_judged) = (0, 0, 0);
    for it in own {
        n_scenarios += 1;
        n_verified += it.turns.verified;
        n_judged += it.turns.judged;
    }
    let scenarios = counted(n_scenarios, "scenario");
    let turns = part(n_verified, n_judged);
    Some(format!("turns verified {turns} in {scenarios} without outcomes or tasks: nothing of that is counted"))
}

/// A value on one line, at most about this number of characters of it: text in backticks, everything else as JSON.
pub(crate) fn value(value: &Val<'_>, room: usize) -> String {
    match value {
        Val::Str(text) if text.is_empty() => "empty text".to_owned(),
        Val::Str(text) => format!("`{}`", cut(&escaped(text), room)),
        other => cut(&other.to_string(), room),
    }
}

/// The text with escapes for what breaks a line, as messages have them, too.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r', '\t']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"))
}

/// The text on one line, cut after this number of characters.
pub(crate) fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        Some((at, _)) => format!("{}…", visible_line(&text[..at])),
        None => visible_line(text).into_owned(),
    }
}

/// A reason with what is known of where it comes from: `HTTP 401 from 127.0.0.1:8080: Incorrect API key (role judge, OPENAI_API_KEY)`
pub(crate) fn cause(cause: &Cause, room: usize) -> String {
    let message = one_line(&cause.message, room);
    let role = cause.role.as_ref().map(|it| format!("role {}", cut(it, 60)));
    let from: Vec<String> =
        role.into_iter().chain(cause.key_env.clone()).filter(|it| !message.contains(it.as_str())).collect();
    if from.is_empty() { message } else { format!("{message} ({})", from.join(", ")) }
}

/// A name as an argument of a command: in quotes where a shell would read it as more.
pub(crate) fn argument(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | '/' | ':' | '@' | '+' | '=' | ',');
    let text = visible_line(text);
    let is_plain = !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain);
    if is_plain { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A case with what distinguishes it from others of the same id: `r1`, `r1 [short, openai/gpt-4o, #2]`
pub(crate) fn case_name(case: &CaseReport) -> String {
    variant_name(&case.id, case.prompt.as_deref(), case.subject.as_deref(), case.replicate)
}

/// The same, of its parts.
pub(crate) fn variant_name(id: &str, prompt: Option<&str>, subject: Option<&str>, replicate: Option<u32>) -> String {
    let replicate = replicate.map(|it| format!("#{it}"));
    let variant: Vec<&str> = [prompt, subject, replicate.as_deref()].into_iter().flatten().collect();
    if variant.is_empty() { id.to_owned() } else { format!("{id} [{}]", variant.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_enough_places_to_distinguish_them() {
        let amounts = [0.0, 3.5, 0.012, 0.000_031, 1.600_000_000_000_000_1e-6];
        assert_eq!(amounts.map(money), ["$0", "$3.50", "$0.0120", "$0.000031", "$0.0000016"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([999, 1_200, 3_400_000, 5_600_000_000].map(bytes), ["999 B", "1.2 kB", "3.4 MB", "5.6 GB"]);
        assert_eq!([1.0, 0.5, 2.0 / 3.0].map(score), ["1", "0.500", "0.667"]);
        let spans = [59, 125, 12_000, 1_036_800].map(|it| span(Duration::from_secs(it)));
        assert_eq!(spans, ["59 s", "2 min 5 s", "3 h 20 min", "12 days"]);
        let durations = [71, 2_400, 1_250_000, 125_000_000].map(|it| duration(Duration::from_micros(it)));
        assert_eq!(durations, ["71 µs", "2.4 ms", "1.25 s", "2 min 5 s"]);
    }

    #[test]
    fn values_are_cut_and_stay_on_their_line() {
        assert_eq!(value(&Val::from("a\nb"), 60), "`a\\nb`");
        assert_eq!(value(&Val::from("abcdef"), 3), "`abc…`");
        assert_eq!(value(&Val::from(""), 3), "empty text");
        assert_eq!(value(&Val::List(vec![Val::I(1), Val::from("\u{202e}")]), 60), "[1, \"\u{fffd}\"]");
    }
}
