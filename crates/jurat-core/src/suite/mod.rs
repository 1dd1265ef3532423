//! What authors write: read from YAML or JSON with positions, every problem collected.
//!
//! Text becomes a tree with positions (`jurat_format::yaml`); hand-shaped readers turn the tree into a [`Suite`], checking keys and
//! types against tables that also make the JSON [`schema`]. Nothing here resolves names between tasks: that is `plan`.

pub(crate) mod agent_cases;
mod agents;
mod ask;
mod campaign;
mod defined_case;
pub(crate) mod deterministic_checks;
pub(crate) mod evaluation;
mod evaluators;
mod group;
pub mod judge_file;
mod judging;
mod load;
pub(crate) mod lost;
mod models;
mod named;
mod prices;
mod prompts;
mod records;
pub mod reference;
mod rubric;
mod scenario;
pub mod schema;
mod sections;
mod soft_score;
mod task;
mod template;
mod tools;

pub use crate::verdict::{Bound, CostLimit, Statistic, TaskThreshold, Thresholds, Tolerance};
pub use agent_cases::{AgentCaseText, AgentName};
pub use agents::AgentText;
pub use ask::{Ask, AskPrompt};
pub use evaluation::{EvaluationText, JudgeRun};
pub use evaluators::{Evaluator, EvaluatorCode, EvaluatorKind, unusable_code};
pub use group::{Group, GroupRule, Member};
pub use judge_file::{InputKind, JudgeFile, JudgeInput, JudgeStep};
pub use judging::{Judge, JudgeArgument, UsedJudge};
pub use load::{Loaded, load, load_policy, load_with};
pub use models::Role;
pub use prices::{ListedPrice, PriceList};
pub use prompts::{ChatText, PromptRead, PromptText};
pub use records::{
    CellType, Records, RowFile, RowFormat, RowSource, bad_row, directory_of_rows, file_without_rows, unreadable,
};
pub use scenario::{EdgeText, NodeText, OutcomeText, ScenarioText};
pub use task::{CaseKind, CelText, Evaluate, Gate, Selection, Task, TaskKind};
pub use tools::{HttpTransport, OAuth, Reach, ServerSpec, server_digest};

use jurat_format::value::{FieldPath, Span, Spanned};

pub use crate::comparison::{ExpectedValue, FilledValue, TaskComparison};
use crate::gate::Policy;
pub use crate::judge::Aggregate;
pub use crate::model::Model;
pub(crate) use crate::model::is_provider_and_model;
pub use crate::output::Output;
use crate::template::{Template, Trait};
pub use crate::text_file::{DEFAULT_FILE, MAX_BYTES};
use lost::Lost;

pub(crate) use ask::SUBJECT;
pub(crate) use scenario::examine as examine_scenarios;

/// A definition, with what it includes merged in.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    pub name: Option<Spanned<String>>,
    pub description: Option<String>,
    /// Which model plays which role.
    pub models: Vec<Role>,
    /// List prices of models.
    pub prices: Option<PriceList>,
    pub tools: Vec<ServerSpec>,
    pub records: Vec<Records>,
    /// What is asked about each row; nothing when the rows are what is evaluated.
    pub ask: Option<Ask>,
    /// What is read from answers, for scenarios that name it.
    pub templates: Vec<(Spanned<String>, Template)>,
    /// What answers are rated by, for scenarios that name it.
    pub rubrics: Vec<(Spanned<String>, Vec<Trait>)>,
    /// Code that judges, and built-in evaluators.
    pub evaluators: Vec<Evaluator>,
    /// Who judges runs, and how.
    pub evaluation: Option<Box<EvaluationText>>,
    /// Those who are given cases.
    pub agents: Vec<AgentText>,
    pub cases: Vec<AgentCaseText>,
    pub scenarios: Vec<ScenarioText>,
    /// The tasks, in the order they were written; those of scenarios included.
    pub tasks: Vec<Task>,
    /// Dimensions beyond the usual ones.
    pub dimensions: Vec<Spanned<String>>,
    /// Paths whose values make slices of the summary.
    pub group_by: Vec<Spanned<FieldPath>>,
    /// The path of what rows share, such as a document: rows with one value there are not independent of each other.
    pub cluster_by: Option<Spanned<FieldPath>>,
    /// The paths of a row that are the question rather than the answer.
    pub question: Vec<Spanned<FieldPath>>,
    /// What counts as good enough.
    pub thresholds: Thresholds,
    /// What a change must not do.
    pub gates: Option<Policy>,
    /// How often each case is run, unless the one who runs it says otherwise.
    pub repeat: Option<u32>,
    /// Whether hooks may run the author's code.
    pub allows_hooks: bool,
    /// Where the first thing it says stands.
    pub(crate) head: Option<Span>,
    /// What it has besides, but could not be read.
    pub(crate) lost: Lost,
}

impl Suite {
    /// Whether a task may pass or fail, rather than only measure: by its comparison or its kind, or by the booleans that its evaluator returns.
    pub fn decides(&self, task: &Task) -> bool {
        let returns_verdicts = |name: &str| self.evaluators.iter().any(|it| it.judges && it.name.value == name);
        task.judges() || matches!(&task.kind, TaskKind::Evaluate(it) if returns_verdicts(&it.evaluator.value))
    }
}
