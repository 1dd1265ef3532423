//! Lengths of time, as they are written: `30s`, `1.5m`, `2h`, `500ms`, or a number of seconds.

use std::time::Duration;

use crate::codes;
use crate::form::Form;
use crate::problem::Problem;
use crate::reader::Reading;
use crate::shape::Shape;
use crate::value::{Content, Node, Val};

pub const FORM: Form = Form::Either(&[Form::Text, Form::Number(0.0, f64::INFINITY)]);

pub const SHAPE: Shape<Duration> = Shape::new(FORM, read);

/// How one is written.
const REMEDY: &str = "write a number and `ms`, `s`, `m`, `h` or `d`, for example `30s`";

/// The units, longest name first where one ends in another.
const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration; {REMEDY}")]
pub struct NotATime(String);

/// Reads a length of time as it is written: a number and a unit.
///
/// ```
/// use std::time::Duration;
///
/// use jurat_format::duration::parse_duration;
///
/// assert_eq!(parse_duration("1.5m")?, Duration::from_secs(90));
/// assert!(parse_duration("90").is_err(), "seconds or minutes?");
/// # Ok::<(), jurat_format::duration::NotATime>(())
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, NotATime> {
    let duration = in_seconds(text).and_then(|it| Duration::try_from_secs_f64(it).ok());
    duration.ok_or_else(|| NotATime(text.to_owned()))
}

/// Reads a length of time that is more than nothing.
pub fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Duration> {
    let duration = match &node.content {
        Content::Scalar(Val::Str(text)) => parse_duration(text).ok(),
        Content::Scalar(value) => value.as_f64().and_then(|it| Duration::try_from_secs_f64(it).ok()),
        _ => None,
    };
    let duration = duration.filter(|it| !it.is_zero());
    if duration.is_none() {
        let message = format!("{what} must be a length of time, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "not a duration");
        reading.problem(problem.help(format!("{REMEDY}, or a number of seconds")));
    }
    duration
}

/// The shortest way to write it that reads back the same.
pub fn write(duration: Duration) -> Val<'static> {
    let nanos = duration.subsec_nanos();
    match (duration.as_secs(), nanos) {
        (seconds, 0) if seconds.is_multiple_of(3600) => Val::from(format!("{}h", seconds / 3600)),
        (seconds, 0) if seconds.is_multiple_of(60) => Val::from(format!("{}m", seconds / 60)),
        (seconds, 0) => Val::from(format!("{seconds}s")),
        (seconds, _) if nanos.is_multiple_of(1_000_000) && seconds < 1000 => {
            Val::from(format!("{}ms", duration.as_millis()))
        }
        _ => Val::F(duration.as_secs_f64()),
    }
}

fn in_seconds(text: &str) -> Option<f64> {
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    // `inf` and `nan` are numbers to Rust, and no lengths of time.
    let is_number = number.trim_end().bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let number: f64 = is_number.then(|| number.trim_end().parse().ok()).flatten()?;
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for millis in [1, 250, 1_000, 1_500, 30_000, 60_000, 90_000, 3_600_000, 86_400_000] {
            let duration = Duration::from_millis(millis);
            let written = write(duration);
            let seconds = written.as_str().and_then(in_seconds).expect("a text with a unit");
            assert_eq!(Duration::from_secs_f64(seconds), duration, "{written}");
        }
    }

    #[test]
    fn what_is_no_length_of_time_is_not_taken_for_one() {
        for text in ["", "s", "30", "30 seconds", "-5s", "infs", "1e3s", "1..5s", "1m30s", "1w", "m5"] {
            assert_eq!(parse_duration(text), Err(NotATime(text.to_owned())));
        }
        let endless = format!("{}s", "9".repeat(400));
        assert!(parse_duration(&endless).is_err(), "nothing is that long");
        assert_eq!(parse_duration("1.5 m"), Ok(Duration::from_secs(90)));
    }
}
