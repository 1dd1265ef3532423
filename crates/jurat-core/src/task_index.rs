//! What is said of a task everywhere: its index in the plan, whether it is a gate, and which kind of case it looks at.

use jurat_format::choices;

/// The index of a task in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIx(pub u32);

impl TaskIx {
    pub(crate) fn of(ix: usize) -> TaskIx {
        TaskIx(u32::try_from(ix).unwrap_or(u32::MAX))
    }

    /// The index as a number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

choices! {
    /// Whether a task decides what runs after it, as run files have it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Gate {
        /// It does not.
        #[default]
        None = "",
        /// `condition: true`: it routes, and is never counted.
        Condition = "condition",
        /// `required: true`: it routes, and is counted.
        Required = "required",
        /// It is in a group, which is counted in its place.
        Member = "member",
    }
}

impl Gate {
    /// Whether tasks that depend on it are skipped when it fails.
    pub fn routes(self) -> bool {
        matches!(self, Gate::Condition | Gate::Required)
    }

    /// Whether its own result is counted.
    pub fn is_counted(self) -> bool {
        matches!(self, Gate::None | Gate::Required)
    }
}

choices! {
    /// The kinds of cases, as `on` names them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CaseKind {
        /// Rows of `records`, whether a model is asked about them or not.
        Records = "records",
        /// Agent runs.
        Cases = "cases",
        Scenarios = "scenarios",
    }
}
