//! The chat history of Aider, which is Markdown. Replies of the model stand in it as they are, among lines of Aider's own that look as a reply may look, too: which
//! is which is known from the log.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::aider_log::behind;

/// A part of the chat history.
#[derive(Debug)]
pub(super) enum Part<'t> {
    /// The message to it.
    Asked(String),
    Reply(&'t str),
    /// Something that Aider itself did or said, in one line.
    Did(&'t str),
    /// Something of several lines that it said: they may be those of a model or of a file.
    Printed(Cow<'t, str>),
}

/// The last turn of a chat history.
#[derive(Debug, Default)]
pub(super) struct History<'t> {
    pub(super) parts: Vec<Part<'t>>,
    /// The replies that are not in it.
    pub(super) missing: VecDeque<&'t str>,
}

impl<'t> History<'t> {
    /// Reads a chat history of all turns with the replies of all turns.
    pub(super) fn read(text: &'t str, replies: impl Iterator<Item = &'t str>) -> History<'t> {
        let mut history = History { parts: Vec::new(), missing: replies.filter(|it| !it.trim().is_empty()).collect() };
        let mut rest = text;
        while !rest.is_empty() {
            rest = history.replied(rest).unwrap_or_else(|| history.line(rest));
        }
        history
    }

    /// Takes the next reply, if it stands here: behind an empty line, and before one.
    fn replied(&mut self, text: &'t str) -> Option<&'t str> {
        let reply = *self.missing.front()?;
        let rest = behind(text.strip_prefix('\n')?, reply)?.strip_prefix("\n\n")?;
        self.missing.pop_front();
        self.parts.push(Part::Reply(reply.trim()));
        Some(rest)
    }

    /// Takes a line of Aider's own, with those that belong to it; returns what follows.
    fn line(&mut self, text: &'t str) -> &'t str {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        if line.starts_with("# aider chat started at ") {
            self.parts.clear();
        } else if let Some(message) = line.strip_prefix("#### ") {
            self.asked(message.trim_end());
        } else if let Some(own) = line.strip_prefix("> ") {
            let n_more = n_bytes_more(own, rest);
            self.parts.push(match n_more {
                0 => Part::Did(own.trim_end()),
                _ => Part::Printed(Cow::Owned(format!("{own}\n{}", rest[..n_more].trim_end()))),
            });
            return &rest[n_more..];
        } else if !line.trim().is_empty() {
            self.parts.push(Part::Printed(Cow::Borrowed(line)));
        }
        rest
    }

    fn asked(&mut self, line: &str) {
        if let Some(Part::Asked(message)) = self.parts.last_mut() {
            message.push('\n');
            message.push_str(line);
        } else {
            self.parts.push(Part::Asked(line.to_owned()));
        }
    }
}

/// How much of what follows belongs to something that begins with this line. Aider ends it with two spaces, as a line break of Markdown; the commands of a block
/// are filled up with spaces to one width before that.
fn n_bytes_more(line: &str, rest: &str) -> usize {
    let n_spaces = line.len() - line.trim_end_matches(' ').len();
    if n_spaces == 2 {
        return 0;
    }
    let width = line.chars().count();
    let is_last = |it: &str| it.ends_with("  ") && it.chars().count() != width;
    let mut n_bytes = 0;
    for line in rest.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let is_padded = text.chars().count() == width;
        if n_spaces > 2 && !is_padded && !is_last(text) {
            break;
        }
        n_bytes += line.len();
        if is_last(text) {
            break;
        }
    }
    n_bytes
}
