//! A message of the user that is more than text.

use super::Media;

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    Media(Media),
}

/// Parts in their order. One at least is not text: a text alone is a message of its own kind, whose key is older.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    parts: Vec<Part>,
    /// What people and scripts read of it.
    words: String,
}

impl Parts {
    /// Parts in their order.
    pub fn new(parts: Vec<Part>) -> Parts {
        let words: Vec<String> = parts.iter().map(words).collect();
        Parts { words: words.join("\n"), parts }
    }

    /// The parts in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, Part> {
        self.parts.iter()
    }

    /// What is not text.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.parts.iter().filter_map(|it| if let Part::Media(media) = it { Some(media) } else { None })
    }

    /// The texts, with a note in brackets in place of everything else.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// The texts alone.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| if let Part::Text(text) = it { Some(text.as_str()) } else { None })
    }

    /// Adds a paragraph to the last text.
    pub(super) fn add_paragraph(&mut self, paragraph: &str) {
        let last = self.parts.iter_mut().rev().find_map(|it| if let Part::Text(text) = it { Some(text) } else { None });
        match last {
            Some(text) => *text = format!("{text}\n\n{paragraph}"),
            None => self.parts.push(Part::Text(paragraph.to_owned())),
        }
        *self = Parts::new(std::mem::take(&mut self.parts));
    }

    /// The same with other media in place of those that have another.
    pub fn with_media(&self, mut other: impl FnMut(&Media) -> Option<Media>) -> Parts {
        let part = |it: &Part| match it {
            Part::Media(media) => Part::Media(other(media).unwrap_or_else(|| media.clone())),
            Part::Text(_) => it.clone(),
        };
        Parts { parts: self.parts.iter().map(part).collect(), words: self.words.clone() }
    }
}

fn words(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Media(media) => format!("[{}: {}]", media.kind.name(), media.summary()),
    }
}
