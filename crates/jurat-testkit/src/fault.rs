//! What can go wrong, as a client sees it.

use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimePrinter};

/// One way to fail.
///
/// It can be read from text, as `--fault` of the program takes it: `reset`, `503`, `429+retry-after=2`. What cannot be
/// read is answered with every form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An error in the provider's own envelope.
    Status {
        /// The status of the answer.
        status: u16,
        /// When the client may come again.
        retry_after: Option<RetryAfter>,
    },
    /// The connection is reset before a byte of the answer.
    Reset,
    /// The connection is closed in good order before a byte of the answer.
    Close,
    /// No answer, for as long as the client cares to wait.
    Silence,
    /// Half of the body, then the connection is closed.
    CutBody,
    /// The body ends in the middle of its JSON. For HTTP all is well. A stream ends in the middle of its last event.
    TruncatedBody,
    /// A stream ends in good order, and what marks its end is missing. Asked without streaming: [`Fault::TruncatedBody`].
    NoFinish,
    /// A stream breaks off with an error in the provider's way. Asked without streaming: status 500.
    StreamError,
    /// What the model says is JSON that breaks off. The answer around it is in order.
    TruncatedText,
    /// What the model says has the right shape, and a word where one of a fixed list is wanted that is not in the list.
    WrongLabel,
    /// The model refuses in the provider's way.
    Refusal,
    /// A filter of the provider comes first.
    Blocked,
}

/// How an answer says when to come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// `retry-after: 2`
    Seconds(u64),
    /// `retry-after: Sun, 06 Nov 1994 08:49:37 GMT`, so long from now, rounded up to the second.
    Date(Duration),
    /// `retry-after-ms: 250`
    Millis(u64),
    /// In the body, as Gemini does it. The other formats have no place for it: there the answer says nothing.
    Body(Duration),
}

/// The faults that are written as one word.
const WORDS: &[(&str, Fault)] = &[
    ("reset", Fault::Reset),
    ("close", Fault::Close),
    ("silence", Fault::Silence),
    ("cut-body", Fault::CutBody),
    ("truncated-body", Fault::TruncatedBody),
    ("no-finish", Fault::NoFinish),
    ("stream-error", Fault::StreamError),
    ("truncated-text", Fault::TruncatedText),
    ("wrong-label", Fault::WrongLabel),
    ("refusal", Fault::Refusal),
    ("blocked", Fault::Blocked),
];

/// A form of [`RetryAfter`]: what stands before its number, and what it means.
type RetryForm = (&'static str, fn(u64) -> RetryAfter);

/// What may follow a status.
const RETRY_FORMS: &[RetryForm] = &[
    ("+retry-after=", RetryAfter::Seconds),
    ("+retry-after-date=", |seconds| RetryAfter::Date(Duration::from_secs(seconds))),
    ("+retry-after-ms=", RetryAfter::Millis),
    ("+retry-info=", |seconds| RetryAfter::Body(Duration::from_secs(seconds))),
];

impl Fault {
    /// An error with this status and no word on when to come again.
    pub fn status(status: u16) -> Fault {
        Fault::Status { status, retry_after: None }
    }

    /// Status 429 with a word on when to come again.
    pub fn rate_limited(retry_after: RetryAfter) -> Fault {
        Fault::Status { status: 429, retry_after: Some(retry_after) }
    }
}

impl RetryAfter {
    /// The header that says it.
    pub(crate) fn header(self) -> Option<(String, String)> {
        let header = |name: &str, value: String| Some((name.to_owned(), value));
        match self {
            RetryAfter::Seconds(seconds) => header("retry-after", seconds.to_string()),
            RetryAfter::Date(from_now) => header("retry-after", date(Timestamp::now(), from_now)),
            RetryAfter::Millis(millis) => header("retry-after-ms", millis.to_string()),
            RetryAfter::Body(_) => None,
        }
    }
}

fn date(now: Timestamp, from_now: Duration) -> String {
    let span = SignedDuration::try_from(from_now).unwrap_or(SignedDuration::MAX);
    let at = now.saturating_add(span).expect("a duration that is not negative can be added");
    let whole = Timestamp::from_second(at.as_second() + i64::from(at.subsec_nanosecond() > 0)).unwrap_or(at);
    DateTimePrinter::new().timestamp_to_rfc9110_string(&whole).expect("dates of our time can be written")
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let word = WORDS.iter().find(|(word, _)| *word == text).map(|(_, fault)| fault.clone());
        word.or_else(|| read_status(text)).ok_or_else(|| format!("`{text}` is no fault; there is {}", forms()))
    }
}

fn read_status(text: &str) -> Option<Fault> {
    let (status, rest) = text.split_at_checked(3)?;
    let status = status.parse().ok().filter(|it| (400..600).contains(it))?;
    if rest.is_empty() {
        return Some(Fault::status(status));
    }
    let (number, retry_after) = RETRY_FORMS.iter().find_map(|(form, make)| Some((rest.strip_prefix(form)?, make)))?;
    Some(Fault::Status { status, retry_after: Some(retry_after(number.parse().ok()?)) })
}

/// Every form in which a fault is written.
pub(crate) fn forms() -> String {
    let words = WORDS.iter().map(|(word, _)| format!("`{word}`"));
    let statuses = RETRY_FORMS.iter().map(|(form, _)| format!("`STATUS{form}N`"));
    let all: Vec<String> = words.chain(std::iter::once("`STATUS`".to_owned())).chain(statuses).collect();
    format!("{}, where STATUS is 400 to 599", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_text() {
        let read = |text: &str| text.parse::<Fault>();
        assert_eq!(read("reset"), Ok(Fault::Reset));
        assert_eq!(read("503"), Ok(Fault::status(503)));
        assert_eq!(read("429+retry-after=2"), Ok(Fault::rate_limited(RetryAfter::Seconds(2))));
        assert_eq!(read("429+retry-after-ms=250"), Ok(Fault::rate_limited(RetryAfter::Millis(250))));
        for wrong in ["", "resets", "200", "4299", "429+", "429+retry-after", "429+retry-after=soon", "429+sleep=1"] {
            let message = read(wrong).expect_err("it is no fault");
            assert!(message.starts_with(&format!("`{wrong}` is no fault; there is `reset`, ")), "{message}");
        }
    }

    #[test]
    fn a_date_is_never_too_early() {
        let now: Timestamp = "1994-11-06T08:49:35.25Z".parse().unwrap();
        assert_eq!(date(now, Duration::from_millis(1500)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date(now, Duration::from_millis(1750)), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
