//! Large JSON documents, whose lists are read element by element.
//!
//! [`abridged`] gives a document without the most of its long lists, to see what it is; [`Elements`] gives what such a list holds. Both look at brackets and
//! quotes alone: whether what they give is JSON is found out when it is parsed.

use std::io::{self, BufRead};

/// A list longer than this is cut after its first element.
const LONG: usize = 1 << 20;

/// How deep a document may be nested.
const DEEPEST: usize = 1000;

/// The most bytes of an element.
const LARGEST: usize = 512 << 20;

/// A list or an object that is open.
struct Open {
    is_list: bool,
    /// Where it begins in the result.
    start: usize,
    /// Where its first element ends.
    first_end: Option<usize>,
}

/// A document with its short lists whole and of its long ones the first element. `limit` is the most bytes of that.
pub(crate) fn abridged(mut reader: impl BufRead, limit: usize) -> io::Result<Vec<u8>> {
    let mut abridgement = Abridgement { limit, ..Abridgement::default() };
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(abridgement.text);
        }
        for byte in chunk {
            abridgement.take(*byte)?;
        }
        let n = chunk.len();
        reader.consume(n);
    }
}

#[derive(Default)]
struct Abridgement {
    text: Vec<u8>,
    limit: usize,
    open: Vec<Open>,
    quotes: Quotes,
    /// How many were open when a list was cut: nothing is taken until it closes.
    cut_at: Option<usize>,
}

impl Abridgement {
    fn take(&mut self, byte: u8) -> io::Result<()> {
        if self.quotes.take(byte) {
            self.add(byte);
        } else {
            match byte {
                b'[' | b'{' => {
                    self.add(byte);
                    if self.open.len() >= DEEPEST {
                        return Err(io::Error::other(format!("it is nested more than {DEEPEST} deep")));
                    }
                    self.open.push(Open { is_list: byte == b'[', start: self.text.len(), first_end: None });
                }
                b']' | b'}' => {
                    if self.cut_at == Some(self.open.len()) {
                        self.cut_at = None;
                    }
                    self.open.pop();
                    self.add(byte);
                }
                b',' => self.comma(),
                _ => self.add(byte),
            }
        }
        match self.text.len() > self.limit {
            true => Err(io::Error::other(format!("what it holds beside lists has more than {} bytes", self.limit))),
            false => Ok(()),
        }
    }

    fn add(&mut self, byte: u8) {
        if self.cut_at.is_none() {
            self.text.push(byte);
        }
    }

    fn comma(&mut self) {
        if self.cut_at.is_some() {
            return;
        }
        let end = self.text.len();
        if let Some(inner) = self.open.last_mut() {
            inner.first_end.get_or_insert(end);
        }
        // The outermost one decides: what is inside of what is cut goes with it.
        let is_long = |it: &Open| it.is_list && it.first_end.is_some() && end - it.start > LONG;
        match self.open.iter().position(is_long) {
            Some(ix) => {
                self.text.truncate(self.open[ix].first_end.unwrap_or(end));
                self.cut_at = Some(ix + 1);
            }
            None => self.text.push(b','),
        }
    }
}

/// Whether a byte belongs to a string.
#[derive(Default)]
struct Quotes {
    is_inside: bool,
    is_escaped: bool,
}

impl Quotes {
    /// Takes in the next byte; returns whether it is part of a string.
    fn take(&mut self, byte: u8) -> bool {
        match (self.is_inside, byte) {
            (true, _) if self.is_escaped => self.is_escaped = false,
            (true, b'\\') => self.is_escaped = true,
            (true, b'"') => self.is_inside = false,
            (true, _) => {}
            (false, b'"') => self.is_inside = true,
            (false, _) => return false,
        }
        true
    }
}

/// The elements of the list at a path of a document, one after the other.
pub(crate) struct Elements<R> {
    reader: R,
    path: Vec<String>,
    state: State,
}

enum State {
    /// The path to the list is still to be gone.
    Before,
    Inside,
    Done,
}

impl<R: BufRead> Elements<R> {
    pub(crate) fn new(reader: R, path: &[&str]) -> Elements<R> {
        Elements { reader, path: path.iter().map(|it| (*it).to_owned()).collect(), state: State::Before }
    }

    /// Goes to the list, which the caller has seen in the parsed document. Keys that stand twice or have escapes lead elsewhere here.
    fn enter(&mut self) -> io::Result<()> {
        for name in self.path.clone() {
            if self.next_byte()? != Some(b'{') || !self.find(&name)? {
                return Err(self.elsewhere());
            }
        }
        match self.next_byte()? {
            Some(b'[') => Ok(()),
            _ => Err(self.elsewhere()),
        }
    }

    /// Goes from the end of the list to the end of what it is in, where none of the keys may follow again: of two lists, one would be passed over.
    fn leave(&mut self) -> io::Result<()> {
        for name in self.path.clone().iter().rev() {
            if self.find(name)? {
                return Err(self.elsewhere());
            }
            self.next_byte()?;
        }
        Ok(())
    }

    fn elsewhere(&self) -> io::Error {
        let path = self.path.join(".");
        io::Error::other(format!("a key of `{path}` stands in its object twice or is written with escapes"))
    }

    /// Goes behind a key of the object that was entered.
    fn find(&mut self, name: &str) -> io::Result<bool> {
        let mut key = Vec::new();
        loop {
            match self.peek()? {
                Some(b'"') => {}
                Some(b',') => {
                    self.reader.consume(1);
                    continue;
                }
                _ => return Ok(false),
            }
            key.clear();
            self.copy(Some(&mut key))?;
            if self.next_byte()? != Some(b':') {
                return Ok(false);
            }
            if key.get(1..key.len() - 1) == Some(name.as_bytes()) {
                return Ok(true);
            }
            self.copy(None)?;
        }
    }

    /// The next byte that is no white space, which stays.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let chunk = self.reader.fill_buf()?;
            let Some(first) = chunk.first().copied() else { return Ok(None) };
            if !first.is_ascii_whitespace() {
                return Ok(Some(first));
            }
            let n = chunk.iter().take_while(|it| it.is_ascii_whitespace()).count();
            self.reader.consume(n);
        }
    }

    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.reader.consume(1);
        }
        Ok(byte)
    }

    /// Goes behind the next value, and copies it.
    fn copy(&mut self, mut into: Option<&mut Vec<u8>>) -> io::Result<()> {
        self.peek()?;
        let (mut quotes, mut depth, mut has_begun) = (Quotes::default(), 0_usize, false);
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(());
            }
            let mut is_done = false;
            let mut n = 0;
            for byte in chunk {
                let was_inside = quotes.is_inside;
                if quotes.take(*byte) {
                    // A string at the top ends with its quote.
                    is_done = depth == 0 && was_inside && !quotes.is_inside;
                } else {
                    match byte {
                        b'[' | b'{' => depth += 1,
                        b']' | b'}' | b',' | b':' if depth == 0 => {
                            is_done = true;
                            break;
                        }
                        b']' | b'}' => {
                            depth -= 1;
                            is_done = depth == 0;
                        }
                        it if depth == 0 && has_begun && it.is_ascii_whitespace() => {
                            is_done = true;
                            break;
                        }
                        _ => {}
                    }
                }
                has_begun = true;
                n += 1;
                if is_done {
                    break;
                }
            }
            if let Some(into) = into.as_deref_mut() {
                into.extend_from_slice(&chunk[..n]);
                if into.len() > LARGEST {
                    return Err(io::Error::other(format!("an element has more than {LARGEST} bytes")));
                }
            }
            self.reader.consume(n);
            if is_done {
                return Ok(());
            }
        }
    }

    fn element(&mut self) -> io::Result<Option<Vec<u8>>> {
        if matches!(self.state, State::Before) {
            self.enter()?;
            self.state = State::Inside;
        }
        if matches!(self.state, State::Done) {
            return Ok(None);
        }
        if self.peek()? == Some(b',') {
            self.reader.consume(1);
        }
        match self.peek()? {
            Some(b']') => {
                self.reader.consume(1);
                self.state = State::Done;
                self.leave().map(|()| None)
            }
            None => Err(io::Error::other("the list is cut off")),
            Some(_) => {
                let mut element = Vec::new();
                self.copy(Some(&mut element))?;
                match element.is_empty() {
                    true => Err(io::Error::other("a list is not separated by commas")),
                    false => Ok(Some(element)),
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for Elements<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let element = self.element();
        if element.is_err() {
            self.state = State::Done;
        }
        element.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn elements(text: &str, path: &[&str], expected: &[&str]) {
        // Whatever is read at once, the elements are the same.
        for capacity in [1, 2, 3, 7, 1000] {
            let reader = io::BufReader::with_capacity(capacity, text.as_bytes());
            let found = Elements::new(reader, path).map(|it| String::from_utf8(it.expect("a list")).expect("text"));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{capacity}");
        }
    }

    #[test]
    fn lists_are_found_and_divided() {
        elements(
            r#"[1, "a,]\"b", {"c": [2, 3]}, [] ,null]"#,
            &[],
            &["1", r#""a,]\"b""#, r#"{"c": [2, 3]}"#, "[]", "null"],
        );
        elements(r#" {"x": {"data": [9]}, "n": -1.5e3 , "data" : [ {"a": "}"} ] }"#, &["data"], &[r#"{"a": "}"}"#]);
        elements(r#"{"results": {"version": 3, "results": [1, 2]}}"#, &["results", "results"], &["1", "2"]);
        elements("[]", &[], &[]);
    }

    /// What is said of a list that was seen, and is not found or not the only one.
    #[track_caller]
    fn refused(text: &str, path: &[&str], expected: &str) {
        let error = Elements::new(text.as_bytes(), path).find_map(Result::err);
        assert_eq!(error.map(|it| it.to_string()).as_deref(), Some(expected));
    }

    #[test]
    fn a_list_that_is_not_found_is_an_error() {
        let of_data = "a key of `data` stands in its object twice or is written with escapes";
        refused(r#"{"data": 1, "data": [2]}"#, &["data"], of_data);
        refused(r#"{"data": [1], "data": [2]}"#, &["data"], of_data);
        refused(r#"{"d\u0061ta": [1]}"#, &["data"], of_data);
        let nested = "a key of `a.b` stands in its object twice or is written with escapes";
        refused(r#"{"a": {"b": [1], "c": 2}, "d": [], "a": {"b": [2]}}"#, &["a", "b"], nested);
    }

    #[test]
    fn a_list_that_is_cut_off_is_an_error() {
        let mut cut = Elements::new(&b"[1, 2"[..], &[]);
        assert!(cut.by_ref().any(|it| it.is_err()));
        assert!(cut.next().is_none());
    }

    #[test]
    fn long_lists_are_abridged() {
        let long = vec!["\"0123456789,]\""; 100_000].join(", ");
        let text = format!(r#"{{"head": [1, 2], "data": [{{"first": [3, 4]}}, {long}], "tail": "]["}}"#);
        let short = abridged(text.as_bytes(), 1 << 21).expect("it fits");
        assert_eq!(
            String::from_utf8(short).expect("text"),
            r#"{"head": [1, 2], "data": [{"first": [3, 4]}], "tail": "]["}"#
        );
        let short = "{\"a\": [1, [2, 3], \"x\"]}";
        assert_eq!(abridged(short.as_bytes(), 100).expect("it fits"), short.as_bytes());
        assert!(abridged(&b"\"too long\""[..], 5).is_err());
    }
}
