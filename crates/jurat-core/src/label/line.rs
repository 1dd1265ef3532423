//! One label.

use jurat_format::choices;
use jurat_format::value::{Value, write_json, write_json_text};

choices! {
    /// What a line of a log says about a label.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum State {
        /// There is one.
        #[default]
        Given = "given",
        /// The annotator could not decide.
        Unsure = "unsure",
        /// It was taken back.
        Removed = "removed",
    }
}

/// What the judge had said when a label was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JudgeSaid {
    pub verdict: Option<String>,
    pub label: Option<String>,
}

/// What one person says about one task of one case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Label {
    /// When it was written; lines of a log have it, those of a sheet do not.
    pub at: Option<String>,
    pub annotator: Option<String>,
    pub suite: Option<String>,
    pub task: Option<String>,
    /// The id of the row, the scenario or the case for an agent.
    pub case: String,
    pub prompt: Option<String>,
    pub subject: Option<String>,
    /// The number of the repetition, from 1, as reports have it.
    pub replicate: Option<u32>,
    /// The digest of what was looked at. A run whose case has another one is not what was labelled.
    pub evidence: Option<String>,
    pub state: State,
    /// `pass`, `fail`, or the text of a label.
    pub label: Option<String>,
    pub score: Option<f64>,
    pub note: Option<String>,
    /// The part of the cases that it was drawn from, and how many cases of that part it stands for.
    pub stratum: Option<String>,
    pub weight: Option<f64>,
    /// Whether the annotator did not see what the judge said.
    pub blind: Option<bool>,
    pub run: Option<String>,
    pub judge: Option<JudgeSaid>,
    /// Members that this version does not know, in their order. They are written back.
    pub others: Vec<(String, Value)>,
}

/// What a label is about, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelKey {
    pub annotator: Option<String>,
    pub suite: Option<String>,
    pub task: Option<String>,
    pub case: String,
    pub prompt: Option<String>,
    pub subject: Option<String>,
    pub replicate: Option<u32>,
    pub evidence: Option<String>,
}

impl Label {
    pub fn key(&self) -> LabelKey {
        LabelKey {
            annotator: self.annotator.clone(),
            suite: self.suite.clone(),
            task: self.task.clone(),
            case: self.case.clone(),
            prompt: self.prompt.clone(),
            subject: self.subject.clone(),
            replicate: self.replicate,
            evidence: self.evidence.clone(),
        }
    }

    /// Whether there is something to count.
    pub fn is_given(&self) -> bool {
        self.state == State::Given && (self.label.is_some() || self.score.is_some())
    }

    /// The line of a log, without its line feed. What is absent is `null`, as readers of logs expect every member of the format.
    ///
    /// ```
    /// use jurat_core::label::Label;
    ///
    /// let label = Label { case: "r3".into(), task: Some("tone".into()), label: Some("fail".into()), ..Label::default() };
    /// assert!(label.to_json_line().starts_with(r#"{"version":1,"at":null,"annotator":null,"suite":null,"task":"tone","case":"r3","#));
    /// ```
    pub fn to_json_line(&self) -> String {
        let mut line = Line::new();
        line.raw("version", "1");
        line.text("at", self.at.as_deref());
        line.text("annotator", self.annotator.as_deref());
        line.text("suite", self.suite.as_deref());
        line.text("task", self.task.as_deref());
        line.text("case", Some(&self.case));
        line.text("prompt", self.prompt.as_deref());
        line.text("subject", self.subject.as_deref());
        line.written("replicate", self.replicate);
        line.text("evidence", self.evidence.as_deref());
        line.text("state", Some(self.state.name()));
        line.text("label", self.label.as_deref());
        line.number("score", self.score);
        line.text("note", Some(self.note.as_deref().unwrap_or_default()));
        line.text("stratum", self.stratum.as_deref());
        line.number("weight", self.weight);
        line.written("blind", self.blind);
        line.text("run", self.run.as_deref());
        line.judge(self.judge.as_ref());
        self.others.iter().for_each(|(name, value)| line.value(name, value));
        line.end()
    }
}

/// An object that is being written.
struct Line(String);

impl Line {
    fn new() -> Line {
        Line("{".to_owned())
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_json_text(&mut self.0, name);
        self.0.push(':');
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.0.push_str(json);
    }

    fn text(&mut self, name: &str, text: Option<&str>) {
        self.name(name);
        match text {
            Some(text) => write_json_text(&mut self.0, text),
            None => self.0.push_str("null"),
        }
    }

    fn written(&mut self, name: &str, value: Option<impl ToString>) {
        self.raw(name, &value.map_or_else(|| "null".to_owned(), |it| it.to_string()));
    }

    fn number(&mut self, name: &str, number: Option<f64>) {
        self.written(name, number.filter(|it| it.is_finite()));
    }

    fn value(&mut self, name: &str, value: &Value) {
        self.name(name);
        write_json(&mut self.0, value);
    }

    fn judge(&mut self, judge: Option<&JudgeSaid>) {
        let Some(judge) = judge else { return self.raw("judge", "null") };
        let mut own = Line::new();
        own.text("verdict", judge.verdict.as_deref());
        own.text("label", judge.label.as_deref());
        self.raw("judge", &own.end());
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
