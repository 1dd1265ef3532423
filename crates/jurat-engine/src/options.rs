//! The options of a run, stored with it.

use jurat_store::run::{Document, RunHead};
use serde::{Deserialize, Serialize};

/// The options of a run, as far as they change its results. Keys and other secrets are not among them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// The model of a role, as the command line has it.
    pub models: Vec<(String, String)>,
    /// The most rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The expression that selects rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The tags that select rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The cases of an earlier run that alone were run, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// How often each subject is asked.
    pub repeat: u32,
    /// Whether answers from before the run were left alone.
    pub fresh: bool,
    /// The recording that was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<String>,
    /// Whether the code of evaluators was run even where the system could not keep it from everything else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unsafe_code: bool,
    /// Whether agents ran on the machine itself, with nothing between.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unsafe_host: bool,
}

impl RunOptions {
    const NAME: &str = "options.json";

    /// The options of a run.
    pub fn of(head: &RunHead) -> RunOptions {
        let document = head.documents.iter().find(|it| it.name == Self::NAME);
        document.and_then(|it| serde_json::from_slice(&it.body).ok()).unwrap_or_default()
    }

    /// The options as a document.
    pub fn document(&self) -> Document {
        Document { name: Self::NAME.to_owned(), body: serde_json::to_vec(self).expect("texts and numbers are JSON") }
    }
}
