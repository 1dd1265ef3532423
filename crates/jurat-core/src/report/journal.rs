//! What the journal of a project holds, in numbers.

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalReport {
    pub file: String,
    pub file_bytes: u64,
    /// What it holds of each model, in order.
    pub models: Vec<ModelAnswers>,
}

/// The answers of one model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelAnswers {
    pub model: String,
    pub answers: u64,
    /// The bytes of requests and answers, as they are stored.
    pub bytes: u64,
    /// When the oldest was given, in milliseconds since 1970.
    pub oldest_ms: u64,
    /// When the newest was given, in milliseconds since 1970.
    pub newest_ms: u64,
}

impl JournalReport {
    /// How many answers there are.
    pub fn answers(&self) -> u64 {
        self.models.iter().map(|it| it.answers).sum()
    }
}
