//! A conversation that several hold at a time.
//!
//! A turn asks with everything that was said before it. What makes, performs and writes down a request only looks at that, so copies share it;
//! and the last holder extends it without copying what is there.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::{Media, Message};

/// Messages in order. Copies share them.
///
/// ```
/// use jurat_core::effect::{Message, Messages};
///
/// let mut messages = Messages::from(vec![Message::User("Is it raining?".to_owned())]);
/// let asked = messages.clone();
/// messages.push(Message::assistant("It is."));
/// assert_eq!((asked.len(), messages.len()), (1, 2));
/// ```
#[derive(Clone, PartialEq, Default)]
pub struct Messages(Arc<Vec<Message>>);

impl Messages {
    /// Adds a message. What others hold stays as it is.
    pub fn push(&mut self, message: Message) {
        Arc::make_mut(&mut self.0).push(message);
    }

    /// Adds a paragraph to the last message of the user. Not as a message of its own: many chat templates refuse two of them in a row.
    pub fn add_paragraph(&mut self, paragraph: &str) {
        let all = Arc::make_mut(&mut self.0);
        match all.iter_mut().rev().find(|it| it.role() == "user") {
            Some(Message::User(text)) => *text = format!("{text}\n\n{paragraph}"),
            Some(Message::Parts(parts)) => parts.add_paragraph(paragraph),
            _ => all.push(Message::User(paragraph.to_owned())),
        }
    }

    /// The images, audio and documents of all messages.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.iter().flat_map(Message::media)
    }

    /// The same with other media in place of those that have another; `None` when there are none at all.
    pub fn with_media(&self, mut other: impl FnMut(&Media) -> Option<Media>) -> Option<Messages> {
        self.media().next()?;
        let message = |it: &Message| match it {
            Message::Parts(parts) => Message::Parts(parts.with_media(&mut other)),
            Message::Tool { call_id, name, text, media, is_error } => Message::Tool {
                call_id: call_id.clone(),
                name: name.clone(),
                text: text.clone(),
                media: media.iter().map(|it| other(it).unwrap_or_else(|| it.clone())).collect(),
                is_error: *is_error,
            },
            Message::System(_) | Message::User(_) | Message::Assistant { .. } => it.clone(),
        };
        Some(self.iter().map(message).collect())
    }

    /// Leaves the first `n`.
    pub fn truncate(&mut self, n: usize) {
        if n < self.len() {
            Arc::make_mut(&mut self.0).truncate(n);
        }
    }

    /// Puts other messages in place of the first `n`.
    pub fn replace_first(&mut self, n: usize, messages: Vec<Message>) {
        // Looking first: changing what others hold would copy all of it.
        if self.get(..n) != Some(messages.as_slice()) {
            let all = Arc::make_mut(&mut self.0);
            all.splice(..n.min(all.len()), messages);
        }
    }
}

impl Deref for Messages {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.0
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Messages {
        Messages(Arc::new(messages))
    }
}

impl From<Messages> for Vec<Message> {
    fn from(messages: Messages) -> Vec<Message> {
        Arc::unwrap_or_clone(messages.0)
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Messages {
        messages.into_iter().collect::<Vec<_>>().into()
    }
}

impl Extend<Message> for Messages {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        Arc::make_mut(&mut self.0).extend(messages);
    }
}

impl<'m> IntoIterator for &'m Messages {
    type Item = &'m Message;
    type IntoIter = std::slice::Iter<'m, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
