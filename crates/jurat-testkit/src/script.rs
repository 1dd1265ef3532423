//! What the endpoint does with each request.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::batch::BatchScript;
use crate::fault::Fault;
use crate::reply::Reply;
use crate::request::Request;

/// What the endpoint answers, when it fails, how long it takes and what it remembers.
///
/// Rules are tried in the order in which they were added, and the first that applies decides. A rule counts the requests
/// that reach it, so one that follows another sees what the other let through.
pub struct Script {
    rules: Vec<Rule>,
    otherwise: Box<Answering>,
    latency: Latency,
    pub(crate) pace: Duration,
    pub(crate) key: Option<String>,
    pub(crate) keeps_requests: bool,
    pub(crate) most_in_flight: Option<u64>,
    pub(crate) log: Option<PathBuf>,
    pub(crate) batches: BatchScript,
}

type Answering = dyn Fn(&Request) -> Answer + Send + Sync;
type Choosing = dyn Fn(&Request) -> bool + Send + Sync;

struct Rule {
    when: When,
    which: Box<Choosing>,
    answer: Answer,
    reached: AtomicU64,
}

/// How often a rule applies, of the requests that reach it.
///
/// It can be read from text, as `--fault` of the program takes it: `always`, `first:2`, `each-first:2`, `every:7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// For ever.
    Always,
    /// To the first N requests.
    First(u64),
    /// To the first N requests with the same body: each question is answered in the end.
    FirstOfEach(u64),
    /// To every so manyth request. `Every(1)` is `Always`.
    Every(u64),
}

/// What one request gets: a [`Reply`], a [`Fault`], or bytes of your own.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(crate) content: Content,
    pub(crate) headers: Vec<(String, String)>,
    after: Option<Duration>,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Reply(Reply),
    Fault(Fault),
    Raw { status: u16, content_type: String, body: Vec<u8> },
}

#[derive(Debug, Clone, Copy)]
enum Latency {
    Fixed(Duration),
    Between { from: Duration, to: Duration, seed: u64 },
    Held,
}

/// What an answer waits for before its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    For(Duration),
    ToBeReleased,
}

impl Default for Script {
    fn default() -> Script {
        Script::new()
    }
}

impl Script {
    /// Answers every request at once with what it asks for ([`Reply::fitting`]).
    pub fn new() -> Script {
        Script::answering(|_| Reply::fitting())
    }

    /// Answers as the function says. Rules that are added go first.
    pub fn answering<A: Into<Answer>>(answer: impl Fn(&Request) -> A + Send + Sync + 'static) -> Script {
        Script {
            rules: Vec::new(),
            otherwise: Box::new(move |request| answer(request).into()),
            latency: Latency::Fixed(Duration::ZERO),
            pace: Duration::ZERO,
            key: None,
            keeps_requests: false,
            most_in_flight: None,
            log: None,
            batches: BatchScript::default(),
        }
    }

    /// Answers with this where no rule applies.
    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Script {
        self.otherwise = Box::new(move |_| reply.clone().into());
        self
    }

    /// Answers with this where the condition holds.
    #[must_use]
    pub fn reply_if(self, which: impl Fn(&Request) -> bool + Send + Sync + 'static, reply: Reply) -> Script {
        self.rule(When::Always, which, reply)
    }

    #[must_use]
    pub fn fault(self, when: When, fault: Fault) -> Script {
        self.rule(when, |_| true, fault)
    }

    /// Fails like this where the condition holds.
    #[must_use]
    pub fn fault_if(
        self,
        when: When,
        which: impl Fn(&Request) -> bool + Send + Sync + 'static,
        fault: Fault,
    ) -> Script {
        self.rule(when, which, fault)
    }

    /// Adds a rule: of the requests for which the condition holds, those that `when` says get this answer.
    #[must_use]
    pub fn rule(
        mut self,
        when: When,
        which: impl Fn(&Request) -> bool + Send + Sync + 'static,
        answer: impl Into<Answer>,
    ) -> Script {
        let (which, answer) = (Box::new(which), answer.into());
        self.rules.push(Rule { when, which, answer, reached: AtomicU64::new(0) });
        self
    }

    /// Waits so long before each answer, errors included.
    #[must_use]
    pub fn latency(self, latency: Duration) -> Script {
        Script { latency: Latency::Fixed(latency), ..self }
    }

    /// Waits a random time before each answer. It depends on the seed, the request and how often that came before, not on
    /// the order of arrival.
    #[must_use]
    pub fn latency_between(self, from: Duration, to: Duration, seed: u64) -> Script {
        Script { latency: Latency::Between { from, to, seed }, ..self }
    }

    /// Holds each answer until [`Endpoint::release`](crate::Endpoint::release) lets it go.
    #[must_use]
    pub fn held(self) -> Script {
        Script { latency: Latency::Held, ..self }
    }

    /// Dribbles streams: each event in two pieces, with a pause after each.
    #[must_use]
    pub fn pace(self, pause: Duration) -> Script {
        Script { pace: pause, ..self }
    }

    /// Refuses requests that do not carry this key where the provider wants it. Ollama wants none.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Script {
        Script { key: Some(key.into()), ..self }
    }

    /// Records each request for [`Endpoint::requests`](crate::Endpoint::requests).
    #[must_use]
    pub fn keep_requests(self) -> Script {
        Script { keeps_requests: true, ..self }
    }

    /// Refuses requests with 429 while this many others are in flight.
    #[must_use]
    pub fn at_most_in_flight(self, n: u64) -> Script {
        Script { most_in_flight: Some(n), ..self }
    }

    /// Appends to this file what [`read_log`](crate::read_log) reads: a line when a request has arrived and one when its
    /// answer has been sent.
    #[must_use]
    pub fn log(self, file: impl AsRef<Path>) -> Script {
        Script { log: Some(file.as_ref().to_owned()), ..self }
    }

    /// Processes batches like this.
    #[must_use]
    pub fn batches(self, batches: BatchScript) -> Script {
        Script { batches, ..self }
    }

    /// The answer to a request that is in flight with others.
    pub(crate) fn answer_among(&self, request: &Request, in_flight: u64) -> Answer {
        match self.most_in_flight {
            Some(most) if in_flight > most => Fault::status(429).into(),
            _ => self.answer(request),
        }
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let rule = self.rules.iter().find(|it| it.applies(request));
        rule.map_or_else(|| (self.otherwise)(request), |it| it.answer.clone())
    }

    pub(crate) fn wait(&self, request: &Request, answer: &Answer) -> Wait {
        match (answer.after, self.latency) {
            (Some(after), _) => Wait::For(after),
            (None, Latency::Fixed(latency)) => Wait::For(latency),
            (None, Latency::Between { from, to, seed }) => Wait::For(between(from, to, seed, request)),
            (None, Latency::Held) => Wait::ToBeReleased,
        }
    }
}

fn between(from: Duration, to: Duration, seed: u64, request: &Request) -> Duration {
    let identity = format!("{:016x} {}", request.digest(), request.repeat);
    let random = xxh3_64_with_seed(identity.as_bytes(), seed);
    let share = random as f64 / u64::MAX as f64;
    from + to.saturating_sub(from).mul_f64(share)
}

impl Rule {
    fn applies(&self, request: &Request) -> bool {
        if !(self.which)(request) {
            return false;
        }
        let nth = self.reached.fetch_add(1, Ordering::Relaxed) + 1;
        match self.when {
            When::Always => true,
            When::First(n) => nth <= n,
            When::FirstOfEach(n) => request.repeat <= n,
            When::Every(n) => nth.is_multiple_of(n.max(1)),
        }
    }
}

impl Answer {
    pub fn raw(status: u16, content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Answer {
        Content::Raw { status, content_type: content_type.into(), body: body.into() }.into()
    }

    /// Waits so long before the first byte, whatever the script says.
    #[must_use]
    pub fn after(self, latency: Duration) -> Answer {
        Answer { after: Some(latency), ..self }
    }

    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Answer {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl From<Content> for Answer {
    fn from(content: Content) -> Answer {
        Answer { content, headers: Vec::new(), after: None }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Content::Reply(reply).into()
    }
}

impl From<Fault> for Answer {
    fn from(fault: Fault) -> Answer {
        Content::Fault(fault).into()
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        let (word, number) = text.split_once(':').unwrap_or((text, ""));
        let number = number.parse().ok().filter(|it| *it > 0);
        match (word, number) {
            ("always", None) if text == "always" => Ok(When::Always),
            ("first", Some(n)) => Ok(When::First(n)),
            ("each-first", Some(n)) => Ok(When::FirstOfEach(n)),
            ("every", Some(n)) => Ok(When::Every(n)),
            _ => Err(format!("`{text}` does not say when; there is `always`, `first:N`, `each-first:N`, `every:N`")),
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Script").field("rules", &self.rules.len()).field("latency", &self.latency).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wire::Wire;

    fn request(body: &str, repeat: u64) -> Request {
        Request {
            number: 1,
            repeat,
            wire: Wire::OpenaiChat,
            path: "/v1/chat/completions".to_owned(),
            headers: Vec::new(),
            body: body.to_owned(),
            json: Value::Null,
            model: "test-1".to_owned(),
            conversation: Vec::new(),
            prompt: String::new(),
            schema: None,
            tools: Vec::new(),
            must_call: None,
            stream: false,
        }
    }

    #[test]
    fn a_random_latency_belongs_to_the_request() {
        let (from, to) = (Duration::from_millis(1), Duration::from_millis(50));
        let script = |seed: u64| Script::new().latency_between(from, to, seed);
        let wait = |script: &Script, request: &Request| script.wait(request, &Reply::fitting().into());
        let waits: Vec<Wait> = (0..100).map(|it| wait(&script(7), &request(&it.to_string(), 1))).collect();
        let again: Vec<Wait> = (0..100).map(|it| wait(&script(7), &request(&it.to_string(), 1))).collect();
        assert_eq!(waits, again);
        let within = |it: &Wait| matches!(it, Wait::For(time) if (from..=to).contains(time));
        assert!(waits.iter().all(within), "{waits:?}");
        assert_ne!(waits[0], waits[1]);
        assert_ne!(wait(&script(7), &request("0", 2)), waits[0]);
        assert_ne!(wait(&script(8), &request("0", 1)), waits[0]);
        let own = Answer::from(Reply::fitting()).after(Duration::from_secs(3));
        assert_eq!(script(7).wait(&request("0", 1), &own), Wait::For(Duration::from_secs(3)));
        assert_eq!(wait(&Script::new().held(), &request("0", 1)), Wait::ToBeReleased);
    }

    #[test]
    fn times_are_read_from_text() {
        let read = |text: &str| text.parse::<When>();
        assert_eq!(read("always"), Ok(When::Always));
        assert_eq!(read("first:2"), Ok(When::First(2)));
        assert_eq!(read("each-first:2"), Ok(When::FirstOfEach(2)));
        assert_eq!(read("every:7"), Ok(When::Every(7)));
        for wrong in ["", "never", "always:2", "always:", "first", "first:", "every:0", "every:-1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
