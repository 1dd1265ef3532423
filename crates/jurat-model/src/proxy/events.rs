//! Removes keys from a stream of server-sent events, also a key that is spread over several events.
//!
//! A model's text arrives a few characters at a time, so a key that an endpoint echoes is rarely whole within one event. For each field of the JSON in the
//! events, its values are looked at as one text. While the end of that text may be the beginning of a key, the event with it and those after it are held
//! back. Events without a part of a key are passed on byte for byte.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::ops::Range;

use jurat_format::value::{Val, parse_json};

use crate::transport::secret::HIDDEN;

/// After this many events without a field, its next value is not taken as a continuation: the text of one block of an answer would otherwise delay the next block.
const MAX_GAP: u64 = 32;

/// The most bytes that are held back.
const MAX_HELD: usize = 4 << 20;

/// Fields that repeat in each event and are not parts of a text. An `s` at the end of a model's name would hold back every event.
const REPEATED: [&str; 14] = [
    "created",
    "finishReason",
    "id",
    "item_id",
    "model",
    "modelVersion",
    "object",
    "obfuscation",
    "responseId",
    "role",
    "service_tier",
    "status",
    "system_fingerprint",
    "type",
];

/// Replaces secrets in the strings of server-sent events.
#[derive(Debug)]
pub(super) struct EventScrubber {
    /// The longest first, because one may be the beginning of another.
    secrets: Vec<String>,
    /// An event whose end has not arrived.
    incoming: Vec<u8>,
    /// Where the unfinished line of `incoming` begins.
    line: usize,
    held: VecDeque<Event>,
    n_held_bytes: usize,
    /// The number of the first event that is held.
    first: u64,
    /// By the field: pieces at the end of its text that may be the beginning of a secret.
    open: BTreeMap<String, Vec<Piece>>,
}

#[derive(Debug)]
struct Event {
    bytes: Vec<u8>,
    cuts: Vec<Cut>,
}

/// A part of a string that is replaced.
#[derive(Debug)]
struct Cut {
    string: usize,
    range: Range<usize>,
    replacement: &'static str,
}

/// A part of a field's text: a string of an event, from a position to its end.
#[derive(Debug)]
struct Piece {
    event: u64,
    string: usize,
    from: usize,
    text: String,
}

impl EventScrubber {
    pub(super) fn new<'s>(secrets: impl Iterator<Item = &'s str>) -> EventScrubber {
        let mut secrets: Vec<String> = secrets.map(str::to_owned).collect();
        secrets.sort_unstable_by_key(|it| std::cmp::Reverse(it.len()));
        EventScrubber {
            secrets,
            incoming: Vec::new(),
            line: 0,
            held: VecDeque::new(),
            n_held_bytes: 0,
            first: 0,
            open: BTreeMap::new(),
        }
    }

    /// Whether everything so far was passed on.
    pub(super) fn holds_nothing(&self) -> bool {
        self.incoming.is_empty() && self.held.is_empty()
    }

    /// What of the bytes so far can be passed on.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::new();
        for part in bytes.split_inclusive(|it| *it == b'\n') {
            self.incoming.extend_from_slice(part);
            if !part.ends_with(b"\n") {
                break;
            }
            let is_blank = matches!(&self.incoming[self.line..], b"\n" | b"\r\n");
            self.line = self.incoming.len();
            if is_blank {
                self.end_event(&mut clean);
            }
        }
        if self.incoming.len() > MAX_HELD {
            self.end_event(&mut clean);
        }
        clean
    }

    /// What was held back, when nothing more comes.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut clean = Vec::new();
        self.end_event(&mut clean);
        self.close(|_| true);
        self.release(&mut clean);
        clean
    }

    fn end_event(&mut self, clean: &mut Vec<u8>) {
        self.line = 0;
        let bytes = std::mem::take(&mut self.incoming);
        let number = self.first + self.held.len() as u64;
        let data = data_of(&bytes);
        self.n_held_bytes += bytes.len();
        self.held.push_back(Event { bytes, cuts: Vec::new() });
        if let Some(data) = data
            && let Ok(record) = parse_json(&data)
        {
            let mut n_strings = 0;
            self.visit(&record.value, &mut String::new(), number, &mut n_strings);
        }
        let is_full = self.n_held_bytes > MAX_HELD;
        self.close(|last| is_full || number - last > MAX_GAP);
        self.release(clean);
    }

    /// Looks at each string of an event. The order is that of [`edited`].
    fn visit(&mut self, value: &Val<'_>, field: &mut String, event: u64, n_strings: &mut usize) {
        let length = field.len();
        match value {
            Val::Str(text) => {
                let string = *n_strings;
                *n_strings += 1;
                self.take(field, Piece { event, string, from: 0, text: text.to_string() });
            }
            Val::List(items) => {
                for (ix, item) in items.iter().enumerate() {
                    // The place in the list is not the number of the choice or the call that an item belongs to.
                    if item.as_map().is_none_or(|it| it.get("index").is_none()) {
                        write!(field, "[{ix}]").unwrap_or_default();
                    }
                    self.visit(item, field, event, n_strings);
                    field.truncate(length);
                }
            }
            Val::Map(map) => {
                for (name, index) in map.iter().filter(|(name, _)| name.ends_with("index")) {
                    write!(field, "{{{name} {index}}}").unwrap_or_default();
                }
                let numbered = field.len();
                for (name, member) in map.iter() {
                    if name.is_empty() || !REPEATED.contains(&name) || !matches!(member, Val::Str(_)) {
                        field.extend([".", name]);
                        self.visit(member, field, event, n_strings);
                        field.truncate(numbered);
                    } else {
                        *n_strings += 1;
                    }
                }
                field.truncate(length);
            }
            _ => {}
        }
    }

    /// Adds a piece to the text of a field.
    fn take(&mut self, field: &str, piece: Piece) {
        let before = self.open.remove(field);
        if before.is_none() && !self.concerns(&piece.text) {
            return;
        }
        let mut pieces = before.unwrap_or_default();
        pieces.push(piece);
        let rest = self.settled(pieces, false);
        if !rest.is_empty() {
            self.open.insert(field.to_owned(), rest);
        }
    }

    /// Whether a text has a secret in it, or ends with the beginning of one.
    fn concerns(&self, text: &str) -> bool {
        let may_end = |secret: &String| {
            (1..=secret.len().min(text.len())).any(|n| text.as_bytes().ends_with(&secret.as_bytes()[..n]))
        };
        self.secrets.iter().any(|it| text.contains(it.as_str()) || may_end(it))
    }

    /// Marks the secrets in the text of a field, and returns the pieces at its end that may be the beginning of one.
    fn settled(&mut self, pieces: Vec<Piece>, is_end: bool) -> Vec<Piece> {
        let text: String = pieces.iter().map(|it| it.text.as_str()).collect();
        let (found, rest) = self.found(&text, is_end);
        for range in found {
            self.cut(&pieces, &range);
        }
        let mut end = 0;
        pieces
            .into_iter()
            .filter_map(|mut it| {
                let start = end;
                end += it.text.len();
                let skipped = rest.saturating_sub(start).min(it.text.len());
                it.text.drain(..skipped);
                it.from += skipped;
                (!it.text.is_empty()).then_some(it)
            })
            .collect()
    }

    /// Where secrets are in a text, and where the rest begins that may be the beginning of one.
    fn found(&self, text: &str, is_end: bool) -> (Vec<Range<usize>>, usize) {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let rest = &text[at..];
            if !is_end && self.secrets.iter().any(|it| it.len() > rest.len() && it.starts_with(rest)) {
                break;
            }
            let n_bytes = match self.secrets.iter().find(|it| rest.starts_with(it.as_str())) {
                Some(secret) => {
                    found.push(at..at + secret.len());
                    secret.len()
                }
                None => rest.chars().next().map_or(1, char::len_utf8),
            };
            at += n_bytes;
        }
        (found, at)
    }

    /// Marks a part of a field's text as replaced in each event that has some of it.
    fn cut(&mut self, pieces: &[Piece], range: &Range<usize>) {
        let (mut end, mut replacement) = (0, HIDDEN);
        for piece in pieces {
            let start = end;
            end += piece.text.len();
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to
                && let Some(event) = usize::try_from(piece.event - self.first).ok().and_then(|it| self.held.get_mut(it))
            {
                let range = piece.from + from - start..piece.from + to - start;
                event.cuts.push(Cut { string: piece.string, range, replacement });
                replacement = "";
            }
        }
    }

    /// Waits no longer for more of the fields whose last event is such.
    fn close(&mut self, is_over: impl Fn(u64) -> bool) {
        let last = |pieces: &Vec<Piece>| pieces.last().map_or(0, |it| it.event);
        for (_, pieces) in self.open.extract_if(.., |_, pieces| is_over(last(pieces))).collect::<Vec<_>>() {
            self.settled(pieces, true);
        }
    }

    /// Passes on the events before the first one that an open field needs.
    fn release(&mut self, clean: &mut Vec<u8>) {
        let needed = self.open.values().filter_map(|it| it.first()).map(|it| it.event).min().unwrap_or(u64::MAX);
        while self.first < needed
            && let Some(event) = self.held.pop_front()
        {
            self.first += 1;
            self.n_held_bytes -= event.bytes.len();
            match event.cuts.is_empty() {
                true => clean.extend_from_slice(&event.bytes),
                false => clean.extend_from_slice(&event.rewritten()),
            }
        }
    }
}

impl Event {
    /// The event without what was cut, its data on one line.
    fn rewritten(mut self) -> Vec<u8> {
        self.cuts.sort_unstable_by_key(|it| std::cmp::Reverse((it.string, it.range.start)));
        let data = data_of(&self.bytes).unwrap_or_default();
        let value = parse_json(&data).map_or(Val::Null, |it| it.value);
        let mut data = Some(edited(value, &mut 0, &self.cuts).to_json());
        let mut rewritten = Vec::with_capacity(self.bytes.len());
        for line in self.bytes.split_inclusive(|it| *it == b'\n') {
            if !line.starts_with(b"data:") {
                rewritten.extend_from_slice(line);
            } else if let Some(data) = data.take() {
                rewritten.extend_from_slice(format!("data: {data}\n").as_bytes());
            }
        }
        rewritten
    }
}

/// The data of an event, unless there is none.
fn data_of(event: &[u8]) -> Option<String> {
    let lines = event.split(|it| *it == b'\n').filter_map(|it| it.strip_prefix(b"data:"));
    let lines: Vec<&[u8]> = lines.map(|it| it.strip_suffix(b"\r").unwrap_or(it)).collect();
    (!lines.is_empty()).then(|| String::from_utf8(lines.join(&b'\n')).ok()).flatten()
}

/// A value whose strings are cut; the cuts of each string are in order from its end.
fn edited<'v>(value: Val<'v>, n_strings: &mut usize, cuts: &[Cut]) -> Val<'v> {
    match value {
        Val::Str(text) => {
            let string = *n_strings;
            *n_strings += 1;
            let mut text = text.into_owned();
            for cut in cuts.iter().filter(|it| it.string == string) {
                text.replace_range(cut.range.clone(), cut.replacement);
            }
            Val::Str(Cow::Owned(text))
        }
        Val::List(items) => items.into_iter().map(|it| edited(it, n_strings, cuts)).collect(),
        Val::Map(map) => Val::Map(map.into_iter().map(|(name, it)| (name, edited(it, n_strings, cuts))).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_core::agent::Wire;

    const KEY: &str = "sk-0123456789abcdef";
    const LONGER: &str = "sk-0123456789abcdef-and-more";

    fn scrubbed(stream: &str, n_bytes: usize) -> String {
        let mut scrubber = EventScrubber::new([KEY, LONGER].into_iter());
        let mut clean: Vec<u8> = stream.as_bytes().chunks(n_bytes).flat_map(|it| scrubber.push(it)).collect();
        clean.extend(scrubber.finish());
        assert!(scrubber.holds_nothing());
        String::from_utf8(clean).expect("it was text")
    }

    /// An event with a piece of a model's text, in the form of an interface.
    fn event(format: Wire, piece: &str) -> String {
        let piece = Val::from(piece).to_string();
        let data = match format {
            Wire::OpenAiResponses => {
                format!(r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":{piece}}}"#)
            }
            Wire::Anthropic => {
                format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{piece}}}}}"#)
            }
            Wire::Gemini => {
                format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":{piece}}}]}}}}],"modelVersion":"gs"}}"#)
            }
            _ => format!(r#"{{"id":"c-s","model":"gpt-oss","choices":[{{"index":0,"delta":{{"content":{piece}}}}}]}}"#),
        };
        format!("event: x\ndata: {data}\n\n")
    }

    /// The text of a stream: the values of the only field that differs.
    fn text(stream: &str) -> String {
        let data =
            stream.lines().filter_map(|it| it.strip_prefix("data: ")).map(|it| parse_json(it).expect("JSON").value);
        let piece = |data: Val<'_>| {
            let paths = ["delta", "delta.text", "candidates[0].content.parts[0].text", "choices[0].delta.content"];
            let found = paths.iter().filter_map(|it| {
                let path = jurat_format::value::FieldPath::parse(it).expect("it is a path");
                path.find(&data).ok().and_then(|it| it.as_str().map(str::to_owned))
            });
            found.reduce(|_, last| last).unwrap_or_default()
        };
        data.map(piece).collect()
    }

    /// A text cut into pieces, each an event.
    fn streamed(format: Wire, pieces: &[&str]) -> String {
        pieces.iter().map(|it| event(format, it)).collect()
    }

    #[track_caller]
    fn hides(format: Wire, pieces: &[&str], expected: &str) {
        let stream = streamed(format, pieces);
        for n_bytes in [1, 7, stream.len()] {
            assert_eq!(text(&scrubbed(&stream, n_bytes)), expected, "{format:?} {pieces:?} in chunks of {n_bytes}");
        }
    }

    #[test]
    fn a_key_over_two_events_is_hidden_wherever_it_is_split() {
        let said = format!("the s{KEY}! {LONGER}.");
        for (_, format) in Wire::NAMED {
            for at in 0..=said.len() {
                let (first, second) = said.split_at(at);
                hides(format, &[first, second], "the s[secret]! [secret].");
            }
        }
    }

    #[test]
    fn a_key_over_many_events_is_hidden() {
        let said = format!("a {KEY}{KEY} sk-012 {LONGER}");
        for (_, format) in Wire::NAMED {
            for n_bytes in 1..=KEY.len() {
                let pieces: Vec<&str> =
                    said.as_bytes().chunks(n_bytes).map(|it| std::str::from_utf8(it).expect("ASCII")).collect();
                hides(format, &pieces, "a [secret][secret] sk-012 [secret]");
            }
        }
        for first in 0..=KEY.len() {
            for second in first..=KEY.len() {
                hides(Wire::OpenAiChat, &[&KEY[..first], &KEY[first..second], "", &KEY[second..]], "[secret]");
            }
        }
    }

    #[test]
    fn what_is_no_key_is_passed_on_as_it_is() {
        let pieces = ["yes", "", "sk-", "0123", "s", "sk-0123456789abcde", "g", "ü sk-0123456789abcde"];
        for (_, format) in Wire::NAMED {
            let stream = format!(
                ": hello\n\n{}retry: 1\r\n\r\ndata: [DONE]\n\ndata: {{ \"a\":\ndata: 1.0 }}\n\nsk-",
                streamed(format, &pieces)
            );
            for n_bytes in [1, 5, stream.len()] {
                assert_eq!(scrubbed(&stream, n_bytes), stream);
            }
        }
    }

    #[test]
    fn choices_are_texts_of_their_own() {
        let choice = |index: usize, piece: &str| {
            format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n")
        };
        let (first, second) = KEY.split_at(9);
        let stream = [choice(0, first), choice(1, "sk-0"), choice(0, second), choice(1, "9")].concat();
        let expected = [choice(0, "[secret]"), choice(1, "sk-0"), choice(0, ""), choice(1, "9")].concat();
        assert_eq!(scrubbed(&stream, 3), expected);
    }

    #[test]
    fn escapes_and_lines_hide_nothing() {
        let escaped = KEY.replace('-', "\\u002d");
        let stream = format!("data: {{\"a\": \"{escaped}\",\ndata: \"b\": [1.5, \"x\"]}}\n\n");
        assert_eq!(scrubbed(&stream, 4), "data: {\"a\":\"[secret]\",\"b\":[1.5,\"x\"]}\n\n");
    }

    #[test]
    fn a_text_that_ended_holds_nothing_back_for_long() {
        let mut scrubber = EventScrubber::new([KEY].into_iter());
        assert!(scrubber.push(event(Wire::OpenAiChat, "yes").as_bytes()).is_empty());
        let other = "data: {\"other\":\"block\"}\n\n";
        let passed: Vec<usize> = (0..=MAX_GAP).map(|_| scrubber.push(other.as_bytes()).len()).collect();
        assert!(passed[..31].iter().all(|it| *it == 0) && scrubber.holds_nothing(), "{passed:?}");
    }
}
