//! YAML and JSON texts into a tree with positions, under limits.
//!
//! JSON goes through a reader of its own, because YAML does not know its escapes for characters beyond 16 bits; the tree is
//! the same. A text ends in a tree or in problems, in time and memory bounded by its size, whatever it holds: nesting
//! and the expansion of aliases are limited, tags and several documents in one file are refused.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span as YamlSpan, Tag};

use crate::codes;
use crate::problem::Problem;
use crate::value::{Content, Entry, MAX_DEPTH, Node, SourceId, Span, Val, json_node_within, shown_within};

/// How many values a definition may hold, aliases written out. A suite of 10,000 tasks has about 100,000.
const MAX_NODES: usize = 1_000_000;

const DATA_ELSEWHERE: &str = "put data into a file of its own and name it under `records`";

/// Reads the tree of a text with the place of every part; as JSON when it is said to be.
pub fn read_tree(text: &str, source: SourceId, is_json: bool, problems: &mut Vec<Problem>) -> Option<Node<'static>> {
    if is_json { json(text, source, problems) } else { yaml(text, source, problems) }
}

fn json(text: &str, source: SourceId, problems: &mut Vec<Problem>) -> Option<Node<'static>> {
    match json_node_within(text, source, MAX_NODES) {
        Ok((node, repeated)) => {
            problems.extend(repeated.iter().take(MAX_REPEATED).map(|it| repeated_key(&it.key, it.again, it.first)));
            Some(owned(node))
        }
        Err(error) => {
            let line_start = text.split_inclusive('\n').take(error.line.saturating_sub(1)).map(str::len).sum::<usize>();
            let at = (line_start + error.column.saturating_sub(1)).min(text.len());
            let problem = not_readable("JSON", &error.message).at(Span::new(source, at..at + 1), "here");
            problems.push(match json_remedy(text, at, &error.message) {
                Some(remedy) => problem.help(remedy),
                None => problem,
            });
            None
        }
    }
}

/// What most likely happened where JSON ends to make sense.
fn json_remedy(text: &str, at: usize, message: &str) -> Option<&'static str> {
    let at = text.floor_char_boundary(at);
    let (before, rest) = (text[..at].trim_end(), text[at..].trim_start());
    if message.contains("hex escape") || message.contains("surrogate") {
        Some("a character beyond U+FFFF is written as itself, or as two escapes: `\\ud83d\\ude00`")
    } else if message.contains("invalid escape") {
        Some("write a backslash as `\\\\`")
    } else if message.ends_with("values") {
        Some(DATA_ELSEWHERE)
    } else if message.contains("EOF") {
        Some("the text ends too early: close what is open")
    } else if rest.starts_with(['/', '#']) {
        Some("JSON has no comments; YAML has")
    } else if before.ends_with(',') && rest.starts_with([']', '}']) {
        Some("no comma stands after the last item")
    } else {
        None
    }
}

fn yaml(text: &str, source: SourceId, problems: &mut Vec<Problem>) -> Option<Node<'static>> {
    let mut builder = Builder {
        places: Places::new(text, source),
        open: Vec::new(),
        anchors: HashMap::new(),
        n_nodes: 0,
        n_repeated: 0,
        root: None,
        problems,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let taken = match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => builder.take(event, span),
            Err(error) => Err(builder.places.scan_error(&error)),
        };
        if let Err(problem) = taken {
            builder.problems.push(*problem);
            return None;
        }
    }
    builder.root
}

/// Builds the tree from events, with a stack of its own: nesting costs no machine stack.
struct Builder<'t, 'p> {
    places: Places<'t>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node<'static>, usize)>,
    n_nodes: usize,
    n_repeated: usize,
    root: Option<Node<'static>>,
    problems: &'p mut Vec<Problem>,
}

/// A list or an object whose end has not come.
struct Open {
    start: Span,
    anchor: usize,
    n_before: usize,
    holds: Holds,
}

enum Holds {
    List(Vec<Node<'static>>),
    Map { members: Members, key: Option<Key>, merged: Vec<Entry<'static>> },
}

/// A key whose value has not come.
struct Key {
    text: Cow<'static, str>,
    span: Span,
    /// Whether it is `<<` without quotes; in quotes it is a key like any other.
    is_merge: bool,
}

/// The members of an object that is being read. Many are found through a map rather than one by one.
#[derive(Default)]
struct Members {
    entries: Vec<Entry<'static>>,
    places: HashMap<Cow<'static, str>, usize>,
}

impl Members {
    const FEW: usize = 24;

    fn get(&self, key: &str) -> Option<&Entry<'static>> {
        if self.places.is_empty() {
            return self.entries.iter().find(|it| it.key == key);
        }
        self.places.get(key).map(|ix| &self.entries[*ix])
    }

    fn push(&mut self, entry: Entry<'static>) {
        if self.entries.len() == Self::FEW {
            self.places = self.entries.iter().enumerate().map(|(ix, it)| (it.key.clone(), ix)).collect();
        }
        if !self.places.is_empty() {
            self.places.insert(entry.key.clone(), self.entries.len());
        }
        self.entries.push(entry);
    }
}

/// How many repeated keys of one file are reported.
const MAX_REPEATED: usize = 100;

type Taken = Result<(), Box<Problem>>;

impl Builder<'_, '_> {
    fn take(&mut self, event: Event<'_>, span: YamlSpan) -> Taken {
        let span = self.places.span(span);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => {
                let problem =
                    Problem::new(&codes::NOT_READABLE, "a second document in one file").at(span, "it starts here");
                Err(Box::new(problem.help("put it into a file of its own and name that under `include`")))
            }
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => {
                let Some((node, n_nodes)) = self.anchors.get(&anchor) else {
                    return Err(Box::new(not_readable("YAML", "an alias inside what it names").at(span, "here")));
                };
                let (node, n_nodes) = (Node { span, ..node.clone() }, *n_nodes);
                self.count(n_nodes, span)?;
                self.add(node, 0, self.n_nodes)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let n_before = self.n_nodes;
                self.count(1, span)?;
                let is_merge = text == "<<" && style == ScalarStyle::Plain && tag.is_none();
                let value = scalar(text, style, tag.as_deref(), span)?;
                if let Some(Holds::Map { key: key @ None, .. }) = self.open.last_mut().map(|it| &mut it.holds)
                    && is_merge
                {
                    *key = Some(Key { text: Cow::Borrowed("<<"), span, is_merge });
                    return Ok(());
                }
                self.add(Node { span, content: Content::Scalar(value) }, anchor, n_before)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.as_deref(), &["seq"], span)?;
                self.open(span, anchor, Holds::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.as_deref(), &["map"], span)?;
                self.open(span, anchor, Holds::Map { members: Members::default(), key: None, merged: Vec::new() })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
        }
    }

    fn open(&mut self, start: Span, anchor: usize, holds: Holds) -> Taken {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep");
            return Err(Box::new(not_readable("this file", &message).at(start, "one too deep")));
        }
        let n_before = self.n_nodes;
        self.count(1, start)?;
        self.open.push(Open { start, anchor, n_before, holds });
        Ok(())
    }

    fn close(&mut self, end: Span) -> Taken {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (first, last, content) = match open.holds {
            Holds::List(items) => {
                let ends = (items.first().map(|it| it.span), items.last().map(|it| it.span));
                (ends.0, ends.1, Content::List(items))
            }
            Holds::Map { mut members, merged, .. } => {
                let ends = (members.entries.first(), members.entries.last());
                let ends = (ends.0.map(|it| it.key_span), ends.1.map(|it| it.value.span));
                // `<<` gives what the object does not say itself.
                for entry in merged {
                    if members.get(&entry.key).is_none() {
                        members.push(entry);
                    }
                }
                (ends.0, ends.1, Content::Map(members.entries))
            }
        };
        // A block ends where its last part ends; the event stands before whatever comes next. Flow style has brackets.
        let is_flow = self.places.text[open.start.range().start.min(self.places.text.len())..].starts_with(['[', '{']);
        let span = match (first, last) {
            (Some(first), Some(last)) if !is_flow => Span { end: last.end.max(first.end), ..first },
            _ => Span { end: end.end.max(open.start.end), ..open.start },
        };
        self.add(Node { span, content }, open.anchor, open.n_before)
    }

    /// Puts a finished node where it belongs.
    fn add(&mut self, node: Node<'static>, anchor: usize, n_before: usize) -> Taken {
        if anchor > 0 {
            // The copy counts as if it stood there: anchors inside anchors would otherwise copy the same text many times.
            let n_nodes = self.n_nodes - n_before;
            self.count(n_nodes, node.span)?;
            self.anchors.insert(anchor, (node.clone(), n_nodes));
        }
        match self.open.last_mut().map(|it| &mut it.holds) {
            None => self.root = Some(node),
            Some(Holds::List(items)) => items.push(node),
            Some(Holds::Map { key: key @ None, .. }) => *key = Some(key_of(node)?),
            Some(Holds::Map { members, key, merged }) => {
                let Some(Key { text: key, span: key_span, is_merge }) = key.take() else { return Ok(()) };
                if is_merge {
                    merged.extend(merged_entries(node)?);
                    return Ok(());
                }
                if let Some(earlier) = members.get(&key) {
                    self.n_repeated += 1;
                    if self.n_repeated <= MAX_REPEATED {
                        self.problems.push(repeated_key(&key, key_span, earlier.key_span));
                    }
                    return Ok(());
                }
                // `key:` with nothing after it is null; pointing at the key is better than at nothing.
                let mut value = node;
                if value.span.start == value.span.end {
                    value.span = key_span;
                }
                members.push(Entry { key, key_span, value });
            }
        }
        Ok(())
    }

    fn count(&mut self, n: usize, span: Span) -> Taken {
        self.n_nodes = self.n_nodes.saturating_add(n);
        if self.n_nodes <= MAX_NODES {
            return Ok(());
        }
        let problem =
            not_readable("this file", &format!("more than {MAX_NODES} values, including those that aliases repeat"));
        Err(Box::new(problem.at(span, "the one too many").help(DATA_ELSEWHERE)))
    }
}

fn key_of(node: Node<'static>) -> Result<Key, Box<Problem>> {
    let span = node.span;
    let text = match node.content {
        Content::Scalar(Val::Str(key)) => key,
        // `5:` and `true:` are keys that were meant as text.
        Content::Scalar(value) => Cow::Owned(value.to_string()),
        _ => {
            let problem = not_readable("YAML", "a key is text, not a list or an object");
            return Err(Box::new(problem.at(span, "this key")));
        }
    };
    Ok(Key { text, span, is_merge: false })
}

fn merged_entries(node: Node<'static>) -> Result<Vec<Entry<'static>>, Box<Problem>> {
    let span = node.span;
    match node.content {
        Content::Map(entries) => Ok(entries),
        Content::List(items) => {
            let all: Result<Vec<_>, _> = items.into_iter().map(merged_entries).collect();
            Ok(all?.into_iter().flatten().collect())
        }
        Content::Scalar(_) => {
            Err(Box::new(not_readable("YAML", "`<<` takes an object, or a list of them").at(span, "here")))
        }
    }
}

/// The value of a scalar by the core schema of YAML 1.2: `no` and `on` are text.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Val<'static>, Box<Problem>> {
    refuse_tag(tag, &["str", "int", "float", "bool", "null"], span)?;
    let as_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
    Ok(if as_text { Val::Str(Cow::Owned(text.into_owned())) } else { plain(&text) })
}

fn plain(text: &str) -> Val<'static> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Val::Null,
        "true" | "True" | "TRUE" => return Val::Bool(true),
        "false" | "False" | "FALSE" => return Val::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Val::F(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Val::F(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Val::F(f64::NEG_INFINITY),
        _ => {}
    }
    let radix = |prefix: &str, radix| text.strip_prefix(prefix).and_then(|it| u64::from_str_radix(it, radix).ok());
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)).filter(|_| !text.contains(['+', '-', '_'])) {
        return Val::from(number);
    }
    number(text).unwrap_or_else(|| Val::Str(Cow::Owned(text.to_owned())))
}

/// `-12`, `+.5`, `1.`, `2e10`; `None` for everything else.
fn number(text: &str) -> Option<Val<'static>> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let is_number = !(whole.is_empty() && fraction.is_empty())
        && all_digits(whole)
        && all_digits(fraction)
        && exponent.is_none_or(|it| !it.is_empty() && all_digits(it));
    if !is_number {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    if exponent.is_none() && !mantissa.contains('.') {
        let digits = unsigned.trim_start_matches('0');
        let written = format!("{sign}{}", if digits.is_empty() { "0" } else { digits });
        return Some(
            written
                .parse()
                .map(Val::I)
                .or_else(|_| written.parse::<u64>().map(Val::from))
                .unwrap_or(Val::Big(written.into())),
        );
    }
    let float: f64 = text.parse().ok()?;
    Some(if float.is_finite() { Val::F(float) } else { Val::Big(Cow::Owned(json_number(sign, whole, fraction, text))) })
}

/// A number as JSON spells it: a digit before the point, one after it, no zeros in front.
fn json_number(sign: &str, whole: &str, fraction: &str, text: &str) -> String {
    let digits = whole.trim_start_matches('0');
    let whole = if digits.is_empty() { "0" } else { digits };
    let point = if fraction.is_empty() { "" } else { "." };
    let exponent = text.find(['e', 'E']).map_or("", |at| &text[at..]);
    format!("{sign}{whole}{point}{fraction}{exponent}")
}

fn refuse_tag(tag: Option<&Tag>, known: &[&str], span: Span) -> Taken {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && known.contains(&tag.suffix.as_str())) => {
            let message = format!("the tag `{}{}` means nothing in a definition", tag.handle, tag.suffix);
            Err(Box::new(Problem::new(&codes::NOT_READABLE, message).at(span, "tagged here").help("drop the tag")))
        }
        _ => Ok(()),
    }
}

fn repeated_key(key: &str, span: Span, earlier: Span) -> Problem {
    let message = format!("{} stands twice in one object", shown_within(&Val::from(key), 40));
    let problem = Problem::new(&codes::REPEATED_KEY, message).at(span, "again here").at(earlier, "first here");
    problem.help("keep one of them")
}

/// The value in braces or brackets that a part of it stands in: from the last `: `, `, `, `{` or `[` before it to the next `,`, `}` or `]` behind it.
fn around(start: usize, end: usize, text: &str) -> Range<usize> {
    let line_start = text[..start].rfind('\n').map_or(0, |it| it + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |it| end + it);
    let is_before = |at: usize, it: char| match it {
        '{' | '[' => !text[..at].ends_with('$'),
        ':' | ',' => text[at + 1..].starts_with(' '),
        _ => false,
    };
    let before = text[line_start..start].char_indices().rfind(|(at, it)| is_before(line_start + at, *it));
    let from = before.map_or(line_start, |(at, it)| line_start + at + it.len_utf8());
    let to = text[end..line_end].find([',', '}', ']']).map_or(line_end, |it| end + it);
    let value = text[from..to].trim_start();
    let from = to - value.len();
    from..from + value.trim_end().len()
}

fn unquoted(source: SourceId, at: Range<usize>, text: &str) -> Problem {
    let (at_start, at_end) = (at.start, at.end);
    let written = &text[at.clone()];
    let why = format!("`{written}` is not in quotes, and inside `{{…}}` or `[…]` its `{{` begins an object");
    let problem = not_readable("YAML", &why).at(Span::new(source, at), "not in quotes");
    problem.help(format!("quote the whole text: `\"{}\"`", text[around(at_start, at_end, text)].replace('"', "\\\"")))
}

pub fn not_readable(what: &str, why: &str) -> Problem {
    Problem::new(&codes::NOT_READABLE, format!("{what} cannot be read: {why}"))
}

fn owned(node: Node<'_>) -> Node<'static> {
    let content = match node.content {
        Content::Scalar(value) => Content::Scalar(value.into_owned()),
        Content::List(items) => Content::List(items.into_iter().map(owned).collect()),
        Content::Map(entries) => Content::Map(entries.into_iter().map(owned_entry).collect()),
    };
    Node { span: node.span, content }
}

fn owned_entry(entry: Entry<'_>) -> Entry<'static> {
    Entry { key: Cow::Owned(entry.key.into_owned()), key_span: entry.key_span, value: owned(entry.value) }
}

/// From characters, which the parser counts, to bytes.
struct Places<'t> {
    text: &'t str,
    source: SourceId,
    /// The byte at which every 256th character starts; empty when all characters are one byte.
    marks: Vec<usize>,
}

const MARK: usize = 256;

impl<'t> Places<'t> {
    fn new(text: &'t str, source: SourceId) -> Places<'t> {
        let marks =
            if text.is_ascii() { Vec::new() } else { text.char_indices().step_by(MARK).map(|(at, _)| at).collect() };
        Places { text, source, marks }
    }

    fn byte(&self, marker: &Marker) -> usize {
        let index = marker.index();
        if self.marks.is_empty() {
            return index.min(self.text.len());
        }
        let Some(mark) = self.marks.get(index / MARK) else { return self.text.len() };
        self.text[*mark..].char_indices().nth(index % MARK).map_or(self.text.len(), |(at, _)| mark + at)
    }

    /// The bytes of a span, without the space that a block scalar drags along.
    fn span(&self, span: YamlSpan) -> Span {
        let (start, end) = (self.byte(&span.start), self.byte(&span.end));
        let covered = self.text.get(start..end).unwrap_or_default().trim_end();
        Span::new(self.source, start..start + covered.len())
    }

    fn scan_error(&self, error: &ScanError) -> Box<Problem> {
        let at = self.byte(error.marker());
        let line_end = self.text[at..].find('\n').map_or(self.text.len(), |it| at + it);
        // The scanner reads ahead of the events, so it meets deep nesting before the builder does.
        let too_deep = error.info().contains("recursion limit");
        let info = if too_deep { format!("nested more than {MAX_DEPTH} deep") } else { error.info().to_owned() };
        if let Some(placeholder) = self.unquoted_placeholder(at) {
            return Box::new(unquoted(self.source, placeholder, self.text));
        }
        let problem = not_readable("YAML", &info).at(Span::new(self.source, at..line_end.min(at + 1).max(at)), "here");
        Box::new(match self.remedy(&info, at) {
            Some(remedy) => problem.help(remedy),
            None => problem,
        })
    }

    /// A `${…}` without quotes just before the place where YAML stopped to make sense. In braces and brackets its `{` begins an object.
    fn unquoted_placeholder(&self, at: usize) -> Option<Range<usize>> {
        let line_start = self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let line_end = self.text[at..].find('\n').map_or(self.text.len(), |it| at + it);
        let line = &self.text[line_start..line_end];
        let start = line[..at - line_start].rfind("${").or_else(|| line.find("${"))?;
        let before = &line[..start];
        let is_quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
        let length = line[start..].find('}')? + 1;
        let is_flow = before.contains(['{', '[']);
        (is_flow && !is_quoted).then(|| line_start + start..line_start + start + length)
    }

    /// What most likely happened where YAML ends to make sense. The scanner says what it met, which is seldom the cause.
    fn remedy(&self, info: &str, at: usize) -> Option<&'static str> {
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |it| it + 1)..];
        let indent = &line[..line.len() - line.trim_start().len()];
        if info.contains("tab") || indent.contains('\t') {
            Some("YAML is indented with spaces, never with tabs")
        } else if info.contains("mapping values are not allowed") {
            Some("quote text that holds `: `, and let the keys of one object start in the same column")
        } else if info.contains("flow") {
            Some("close the `[` or `{` before this")
        } else if info.contains("quoted scalar") {
            Some("close the quote; a quoted text of several lines is indented more than its key")
        } else if info.contains("simple key") {
            Some("a key stands on one line, has at most 1024 characters, and `:` comes after it")
        } else if info.contains("unknown anchor") {
            Some("`*name` stands for what `&name` marks further up")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Node<'static>, Vec<String>> {
        let mut problems = Vec::new();
        let node = read_tree(text, SourceId(0), false, &mut problems);
        match node {
            Some(node) if problems.is_empty() => Ok(node),
            _ => Err(problems.into_iter().map(|it| it.message).collect()),
        }
    }

    /// The parser counts characters. Where the end of a text is found by counting, it may be just where another mark would be.
    #[test]
    fn a_text_that_ends_unexpectedly_is_shown_to_its_end() {
        for n in 0..=2 * MARK {
            let text = format!("all:  [{}", "ü".repeat(n));
            assert_eq!(read(&text).expect_err("the list is open").len(), 1, "{n}");
        }
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        for (text, printed) in [
            ("~", "null"),
            ("yes", "\"yes\""),
            ("on", "\"on\""),
            ("True", "true"),
            ("007", "7"),
            ("+5", "5"),
            ("0x1F", "31"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-1e3", "-1000.0"),
            ("1e", "\"1e\""),
            ("1.2.3", "\"1.2.3\""),
            ("2024-01-31", "\"2024-01-31\""),
            ("12345678901234567890123", "12345678901234567890123"),
            ("'5'", "\"5\""),
            ("!!str 5", "\"5\""),
            (".", "\".\""),
            ("-", "[null]"),
        ] {
            assert_eq!(read(text).map(|it| it.to_val().to_string()), Ok(printed.to_owned()), "{text}");
        }
    }

    #[test]
    fn every_part_knows_its_place() {
        let text = "a: één\nb:\n  - {c: 1, d: \"x\"}\n  - |\n    some\n    text\n\ne:\n";
        let node = read(text).unwrap();
        let at = |node: &Node<'_>| text[node.span.range()].to_owned();
        assert_eq!(at(node.get("a").unwrap()), "één");
        let list = node.get("b").unwrap().as_list().unwrap();
        assert_eq!(at(&list[0]), "{c: 1, d: \"x\"}");
        assert_eq!(at(list[0].get("d").unwrap()), "\"x\"");
        assert_eq!(at(&list[1]), "some\n    text");
        assert_eq!(at(node.get("b").unwrap()), "{c: 1, d: \"x\"}\n  - |\n    some\n    text");
        assert_eq!(at(node.get("e").unwrap()), "e");
    }

    #[test]
    fn aliases_and_merges_are_written_out() {
        let node = read("base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\nsame: *b\n").unwrap();
        assert_eq!(node.get("more").unwrap().to_val().to_string(), "{\"y\": 3, \"x\": 1}");
        assert_eq!(node.get("same").unwrap().to_val().to_string(), "{\"x\": 1, \"y\": 2}");
    }

    #[test]
    fn hostile_texts_end_in_a_problem() {
        let bomb = (1..40).fold("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, n| {
            format!("{text}a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "))
        });
        let nested_anchors: String =
            (0..120).map(|n| format!("&a{n} [")).chain(["x, ".repeat(10_000), "]".repeat(120)]).collect();
        let deep = "[".repeat(100_000);
        let deep_block = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect::<String>();
        for (text, message) in [
            (bomb.as_str(), "more than 1000000 values, including those that aliases repeat"),
            (nested_anchors.as_str(), "more than 1000000 values, including those that aliases repeat"),
            (deep.as_str(), "nested more than 128 deep"),
            (deep_block.as_str(), "nested more than 128 deep"),
            ("a: &a [*a]", "an alias inside what it names"),
            ("a: 1\n---\nb: 2", "a second document in one file"),
            ("a: !!python/object:os.system x", "the tag"),
            ("? [a, b]\n: c", "a key is text"),
            ("a: 1\na: 2", "`a` stands twice in one object"),
            ("a: [1, 2", "cannot be read"),
            ("a: *nothing", "cannot be read"),
        ] {
            let problems = read(text).unwrap_err();
            assert!(problems.iter().any(|it| it.contains(message)), "{problems:?} should say `{message}`");
        }
    }
}
