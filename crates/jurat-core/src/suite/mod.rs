//! What authors write: read from YAML or JSON with positions, every problem collected.
//!
//! Text becomes a tree with positions (`jurat_format::yaml`); hand-shaped readers turn the tree into a [`Suite`], checking keys and
//! types against tables that also make the JSON [`schema`]. Nothing here resolves names between tasks: that is `plan`.

mod calls;
mod campaign;
mod cases;
mod code;
mod flaws;
mod head;
mod load;
pub mod reference;
pub mod schema;
mod sections;

pub use crate::agent::case_text::{AgentCaseText, AgentName};
pub use crate::agent::text::AgentText;
pub(crate) use crate::ask::SUBJECT;
pub use crate::ask::{Ask, AskPrompt};
pub use crate::chat::ChatText;
pub use crate::comparison::{ExpectedValue, FilledValue, TaskComparison};
pub use crate::evaluation::text::{EvaluationText, JudgeRun};
pub use crate::evaluator::definition::{Evaluator, EvaluatorCode, EvaluatorKind, unusable_code};
pub use crate::judge::Aggregate;
pub use crate::judge::definition::{Judge, JudgeArgument, UsedJudge};
pub use crate::judge::file as judge_file;
pub use crate::judge::file::{InputKind, JudgeFile, JudgeInput, JudgeStep};
pub use crate::model::Model;
pub(crate) use crate::model::is_provider_and_model;
pub use crate::model::price_list::{ListedPrice, PriceList};
pub use crate::model::role::Role;
pub use crate::output::Output;
pub use crate::prompt::text::{PromptRead, PromptText};
pub use crate::records::{
    CellType, Records, RowFile, RowFormat, RowSource, bad_row, directory_of_rows, file_without_rows, unreadable,
};
pub use crate::scenario::text::{EdgeText, NodeText, OutcomeText, ScenarioText};
pub use crate::task::group::{Group, GroupRule, Member};
pub use crate::task::{CaseKind, CelText, Evaluate, Gate, Selection, Task, TaskKind};
pub use crate::text_file::{DEFAULT_FILE, MAX_BYTES};
pub use crate::tool::server::{HttpTransport, OAuth, Reach, ServerSpec, server_digest};
pub use crate::verdict::{Bound, CostLimit, Statistic, TaskThreshold, Thresholds, Tolerance};
pub(crate) use flaws::examine as examine_scenarios;
pub use load::{Loaded, load, load_policy, load_with};
pub use sections::Suite;

impl Suite {
    /// Whether a task may pass or fail, rather than only measure: by its comparison or its kind, or by the booleans that its evaluator returns.
    pub fn decides(&self, task: &Task) -> bool {
        let returns_verdicts = |name: &str| self.evaluators.iter().any(|it| it.judges && it.name.value == name);
        task.judges() || matches!(&task.kind, TaskKind::Evaluate(it) if returns_verdicts(&it.evaluator.value))
    }
}
