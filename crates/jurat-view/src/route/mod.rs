//! Every address of the viewer. Addresses are read and printed here alone, and every link is a printed [`Route`], so that no link is dead.
//!
//! A parameter that has its default is left out. Unknown parameters are ignored, as they are in pages everywhere; a value that cannot be meant is reported
//! with what would do. Here is what can be asked for; [`read`] and [`print`] turn it from text and into text.

mod parameters;
mod print;
mod read;
#[cfg(test)]
mod tests;

use jurat_engine::view::query::Sort;

/// A route, and whether its page or its data is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    pub route: Route,
    pub form: Form,
}

/// What is sent: a page for people, or its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Html,
    Json,
}

/// What can be asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    Runs(Runs),
    Run {
        /// The id of the run, the beginning of one, or `latest`.
        run: String,
        page: RunPage,
    },
    Compare(Compare),
    CompareCase(CompareCase),
    /// Server-sent events about all runs.
    Events,
    /// Where labels are sent to.
    Labels,
    /// A file of ours, by its name with the hash of its content.
    Asset(String),
}

/// The list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runs {
    /// Only runs of this suite.
    pub suite: Option<String>,
    /// Only runs whose id or suite has this text.
    pub q: String,
    /// How many newer ones are left out.
    pub from: u64,
}

/// A page of one run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunPage {
    Overview,
    Cases(Cases),
    /// The cases that a query finds, for other programs.
    Table(Table),
    Case(Case),
    /// A whole value as plain text.
    Text(Text),
    Graph,
    Slices(Slices),
    Cost,
    Flaky(Flaky),
    Label(Label),
    /// A file that an agent left.
    Output(Output),
    /// Server-sent events about this run.
    Events,
}

/// Rows whose repetitions ended differently.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flaky {
    /// Only those in which this task flips.
    pub task: Option<String>,
    /// Only those of this subject.
    pub subject: Option<String>,
}

/// A file that an agent left: its key outputs, and behind them its logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    pub id: String,
    pub variant: VariantName,
    /// From 0.
    pub ix: u32,
}

/// The table of cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Cases {
    /// The query, as it was written.
    pub q: String,
    pub sort: Sort,
    pub descending: bool,
    /// How many rows before these are left out.
    pub from: u64,
    /// How many rows a page has.
    pub n: u32,
    /// Which columns are shown; empty for the default.
    pub cols: Vec<String>,
    /// Where a search goes on that was not finished: the first case that it has not looked at.
    pub scan: u64,
}

/// Cases as a table for other programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub kind: TableKind,
    /// The query, as it was written.
    pub q: String,
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    Csv,
    JsonLines,
}

impl TableKind {
    pub const ALL: [TableKind; 2] = [TableKind::Csv, TableKind::JsonLines];

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            TableKind::Csv => "csv",
            TableKind::JsonLines => "jsonl",
        }
    }
}

/// How many rows a page of cases has, and what may be asked for.
pub const ROWS: u32 = 100;
const FEWEST_ROWS: u32 = 25;
const MOST_ROWS: u32 = 500;

impl Default for Cases {
    fn default() -> Cases {
        let (q, cols) = (String::new(), Vec::new());
        Cases { q, sort: Sort::Input, descending: false, from: 0, n: ROWS, cols, scan: 0 }
    }
}

/// Which of the cases of a row is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariantName {
    pub prompt: Option<String>,
    pub subject: Option<String>,
    /// From 1.
    pub replicate: Option<u32>,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Case {
    pub id: String,
    pub variant: VariantName,
    /// The task that is explained; default: the first that did not pass.
    pub task: Option<String>,
    /// The turn of a scenario that is looked at, from 1.
    pub turn: Option<u32>,
    /// The first event of an agent that is shown, from 0.
    pub from: u64,
    /// Only events of this kind, or of this tool.
    pub only: Option<String>,
    pub look: Look,
    /// The query that led here, for its neighbours.
    pub q: String,
    pub sort: Sort,
    pub descending: bool,
}

/// How parts of a case are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    pub evidence: EvidenceForm,
    /// Whether changed files are shown side by side, not in line.
    pub is_side_by_side: bool,
    /// The first request of an agent to its model that is shown, from 0.
    pub asked: u64,
}

/// What the evidence of a case is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EvidenceForm {
    #[default]
    Tree,
    Json,
    Text,
    Markdown,
}

impl EvidenceForm {
    pub const ALL: [EvidenceForm; 4] =
        [EvidenceForm::Tree, EvidenceForm::Json, EvidenceForm::Text, EvidenceForm::Markdown];

    fn name(self) -> &'static str {
        match self {
            EvidenceForm::Tree => "tree",
            EvidenceForm::Json => "json",
            EvidenceForm::Text => "text",
            EvidenceForm::Markdown => "markdown",
        }
    }

    /// As people call it.
    pub fn word(self) -> &'static str {
        match self {
            EvidenceForm::Json => "JSON",
            EvidenceForm::Markdown => "Markdown",
            EvidenceForm::Tree | EvidenceForm::Text => self.name(),
        }
    }
}

/// A whole value of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pub id: String,
    pub variant: VariantName,
    /// Which value, as pages name it in their links.
    pub part: String,
}

/// Pass rates by one or two paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slices {
    pub by: Vec<String>,
    /// Leaves out slices with fewer judged results.
    pub least: u64,
    /// How many before these are left out.
    pub from: u64,
}

/// How many slices a page has: a suite may group by what is different in every row.
pub const SLICES: u64 = 200;

/// The queue of cases to label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub task: Option<String>,
    pub n: u32,
    pub seed: u64,
    /// Whether what the judge said is hidden until a label is saved.
    pub blind: bool,
    /// The place of the case that is shown, from 0; default: the first without a label.
    pub at: Option<u32>,
    /// The place of the case that was labelled last: what the judge said of it is shown.
    pub after: Option<u32>,
}

impl Default for Label {
    fn default() -> Label {
        Label { task: None, n: 50, seed: 1, blind: false, at: None, after: None }
    }
}

/// Runs side by side. A side is a run, or `RUN@subject=…,prompt=…`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compare {
    pub base: String,
    pub new: Vec<String>,
    pub q: String,
    pub from: u64,
}

/// One case of several runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompareCase {
    pub id: String,
    /// Which of the cases of its row is meant; what is not said is any.
    pub variant: VariantName,
    pub base: String,
    pub new: Vec<String>,
}

/// Why there is no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("there is no page at this address")]
    Unknown,
    #[error("`{parameter}` cannot be `{value}`: it takes {accepted}")]
    Value { parameter: &'static str, value: String, accepted: String },
}

impl Route {
    /// The overview of a run.
    pub fn overview(run: &str) -> Route {
        Route::Run { run: run.to_owned(), page: RunPage::Overview }
    }

    /// The cases of a run that a query finds.
    pub fn cases(run: &str, q: impl Into<String>) -> Route {
        let page = RunPage::Cases(Cases { q: q.into(), ..Cases::default() });
        Route::Run { run: run.to_owned(), page }
    }

    /// The address of its data.
    pub fn json(self) -> Address {
        Address { route: self, form: Form::Json }
    }
}
