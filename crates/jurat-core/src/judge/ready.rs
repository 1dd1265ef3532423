//! Judges that come with the program: data in the folder `judges`, a definition and a labelled set for each.
//!
//! A ready judge is two files of one name and a line in [`READY`]. The definition is a judge file like those that authors write, so `jurat judges
//! eject` is a copy. The set has cases with the label that people give them and the reason, so that any model can be measured as this judge.

/// A judge that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    pub name: &'static str,
    /// The text of its judge file.
    pub definition: &'static str,
    /// Its labelled set, as JSON lines.
    pub cases: &'static str,
}

macro_rules! ready {
    ($($name:literal),* $(,)?) => {
        &[$(Ready {
            name: $name,
            definition: include_str!(concat!("../../judges/", $name, ".yaml")),
            cases: include_str!(concat!("../../judges/", $name, ".jsonl")),
        }),*]
    };
}

/// All of them, in the order of the reference.
pub static READY: &[Ready] = ready![
    "correctness",
    "closed-qa",
    "faithfulness",
    "hallucination",
    "answer-relevance",
    "context-precision",
    "context-recall",
    "summary",
    "toxicity",
    "tone",
    "refusal",
    "instructions",
    "sql",
    "code-review",
    "tool-calls",
    "preference",
    "rubric",
    "trajectory",
    "trajectory-match",
];

/// The name of the judge that a `rubric` asks.
pub const RUBRIC: &str = "rubric";

impl Ready {
    pub fn find(name: &str) -> Option<&'static Ready> {
        READY.iter().find(|it| it.name == name)
    }

    /// The path that messages and stored runs call its definition by.
    pub fn path(&self) -> String {
        format!("jurat:judges/{}.yaml", self.name)
    }
}
