//! Scenarios as Karenina stores them.

use jurat_core::compat::karenina;
use jurat_core::scenario::Scenario;
use jurat_format::source::Sources;
use jurat_format::value::{SourceId, json_node};

use crate::{Error, Problems, Value};

/// Reads scenarios from a checkpoint, from one scenario of a checkpoint, or from the dump of one. Text of code is stored and never run.
///
/// ```
/// use jurat::scenario::{END, Question, ScenarioBuilder, from_checkpoint, to_checkpoint};
///
/// let mut builder = ScenarioBuilder::new("greeting");
/// builder.add_node("hi", Question::new("Hello?", "Hello.")).add_edge("hi", END).set_entry("hi");
/// let scenario = builder.validate()?;
/// let text = to_checkpoint([&scenario]).to_string();
/// assert_eq!(from_checkpoint(&text)?[0].edges, scenario.edges);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_checkpoint(text: &str) -> Result<Vec<Scenario>, Error> {
    let (node, _) = json_node(text, SourceId::default()).map_err(|error| Error::Read(Box::new(error)))?;
    Scenario::from_checkpoint(&node).map_err(|found| {
        let mut sources = Sources::default();
        sources.add("checkpoint", text.to_owned());
        Error::Suite(Problems::new(found, sources))
    })
}

/// A checkpoint with these scenarios.
pub fn to_checkpoint<'s>(scenarios: impl IntoIterator<Item = &'s Scenario>) -> Value {
    Value(karenina::checkpoint(scenarios))
}
