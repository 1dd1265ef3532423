//! Sessions of applications: which one a conversation is held in.
//!
//! A conversation begins with its first turn, whatever was recorded before: an application may have forgotten, or remember more than the run does. Every request that is no
//! turn is a session of its own.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jurat_core::effect::ModelRequest;

use super::Asker;
use crate::model::{Kind, Model};

/// The sessions of the conversations that are held now.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    by_conversation: HashMap<Conversation, String>,
    n_made: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Conversation {
    role: String,
    case: String,
    repeat: u32,
}

/// The session of one request.
#[derive(Debug)]
pub(super) struct Session {
    /// Its id; `None` where the application is about to give one.
    pub(super) id: Option<String>,
    pub(super) is_first: bool,
    /// Whether the application remembers what it was sent, so that sending it again is another message.
    pub(super) is_stateful: bool,
    conversation: Option<Conversation>,
}

impl Sessions {
    /// The session that a request belongs to.
    pub(super) fn of(&self, model: &Model, asker: Asker<'_>, request: &ModelRequest, now_ms: u64) -> Session {
        let none = Session { id: None, is_first: true, is_stateful: false, conversation: None };
        let Kind::Http(http) = &model.kind else { return none };
        if !http.codec.has_sessions(&model.endpoint) {
            return none;
        }
        let conversation = asker.turn.map(|_| Conversation {
            role: request.model.to_string(),
            case: asker.case.to_owned(),
            repeat: request.repeat,
        });
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = conversation.as_ref().and_then(|it| held.by_conversation.get(it).cloned());
        if asker.turn.is_some_and(|it| it.number > 1) && known.is_some() {
            return Session { id: known, is_first: false, is_stateful: true, conversation };
        }
        let id = (!http.codec.names_sessions(&model.endpoint)).then(|| held.made(asker, now_ms));
        if let (Some(conversation), Some(id)) = (&conversation, &id) {
            held.by_conversation.insert(conversation.clone(), id.clone());
        }
        Session { id, is_first: true, is_stateful: true, conversation }
    }

    /// Notes the id that an application gave a session.
    pub(super) fn note(&self, session: &Session, named: Option<&str>) {
        if let (Some(conversation), Some(id)) = (&session.conversation, named) {
            let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            held.by_conversation.insert(conversation.clone(), id.to_owned());
        }
    }
}

impl Held {
    /// An id that no other conversation has, in this run or another.
    fn made(&mut self, asker: Asker<'_>, now_ms: u64) -> String {
        self.n_made += 1;
        let mut hasher = blake3::Hasher::new();
        for number in [now_ms, u64::from(std::process::id()), self.n_made] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(asker.case.as_bytes());
        let digits = hasher.finalize().to_hex();
        format!("jurat-{}", &digits[..24])
    }
}
