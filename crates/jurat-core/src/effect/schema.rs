//! The JSON Schema that an answer must have.
//!
//! Thousands of requests ask for the same one. They share it, and with it what each of them would otherwise make of it again: how it is stored, how it is
//! sent, and its share of a key.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;

use jurat_format::value::Value;

/// A JSON Schema. Copies share it.
#[derive(Clone)]
pub struct Schema(Arc<Shared>);

struct Shared {
    value: Value,
    json: OnceLock<String>,
    sent: OnceLock<Box<RawValue>>,
    framing: OnceLock<Vec<u8>>,
}

impl Schema {
    /// How it is stored, as `write` writes it.
    pub(super) fn json(&self, write: impl FnOnce(&Value) -> String) -> &str {
        self.0.json.get_or_init(|| write(&self.0.value))
    }

    /// How providers are sent it, as `write` writes it; all codecs write it alike.
    pub fn sent(&self, write: impl FnOnce(&Value) -> Box<RawValue>) -> &RawValue {
        self.0.sent.get_or_init(|| write(&self.0.value))
    }

    /// What a model is asked for in words, where its endpoint takes no schema.
    pub fn in_words(&self) -> String {
        format!("Answer with nothing but JSON that fits this JSON Schema:\n{}", self.0.value.to_json())
    }

    /// Its share of a key, as `frame` makes it.
    pub(super) fn framing(&self, frame: impl FnOnce(&Value) -> Vec<u8>) -> &[u8] {
        self.0.framing.get_or_init(|| frame(&self.0.value))
    }
}

impl From<Value> for Schema {
    fn from(value: Value) -> Schema {
        Schema(Arc::new(Shared { value, json: OnceLock::new(), sent: OnceLock::new(), framing: OnceLock::new() }))
    }
}

impl Deref for Schema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}
