//! The sections of a definition, one line each. A line names what is declared in the folder of its concept.

use jurat_format::fields::Fields;
use jurat_format::form::{Key, Object};
use jurat_format::reader::Reading;
use jurat_format::value::{FieldPath, Span, Spanned};

use super::{campaign, cases, head};
use crate::agent::case_text::AgentCaseText;
use crate::agent::text::AgentText;
use crate::agent::{case_text, text as agent};
use crate::ask::Ask;
use crate::check::{dimension, hook};
use crate::compat::personal_agent_eval;
use crate::evaluation::text::{self as evaluation, EvaluationText};
use crate::evaluator::definition::{self as evaluator, Evaluator};
use crate::gate::{Policy, policy};
use crate::model::price_list::{self, PriceList};
use crate::model::role::{self, Role};
use crate::records::Records;
use crate::scenario::text::{self as scenario, ScenarioText};
use crate::section::lost::Lost;
use crate::section::{At, Heading};
use crate::task::{Task, deterministic_checks};
use crate::template::{self, Template, Trait, rubric};
use crate::tool::server::{self, ServerSpec};
use crate::verdict::{Thresholds, thresholds};
use crate::{ask, records, task};

/// Makes the definition and the list of its sections from one line for each section:
///
/// * `pub agents: Vec<AgentText> = agent::SECTION;` is read into a part of the definition, which the line declares;
/// * `tasks = deterministic_checks::SECTION;` is read into a part that another line declares;
/// * `… => function;` is read by a function of this module's siblings, because it adds to several parts.
macro_rules! sections {
    (@ [$($parts:tt)*] [$($lines:tt)*]) => {
        /// A definition, with what it includes merged in.
        #[derive(Debug, Clone, Default)]
        pub struct Suite { $($parts)* }

        const LINES: &[Line] = &[$($lines)*];
    };
    (@ [$($parts:tt)*] [$($lines:tt)*] $(#[$doc:meta])* pub $part:ident: $type:ty = $section:expr; $($rest:tt)*) => {
        sections!(@ [$($parts)* $(#[$doc])* pub $part: $type,] [$($lines)* line!($part, $section),] $($rest)*);
    };
    (@ [$($parts:tt)*] [$($lines:tt)*] $(#[$doc:meta])* pub $part:ident: $type:ty = $heading:expr => $read:expr; $($rest:tt)*) => {
        sections!(@ [$($parts)* $(#[$doc])* pub $part: $type,] [$($lines)* Line { heading: $heading, read: $read },] $($rest)*);
    };
    (@ [$($parts:tt)*] [$($lines:tt)*] $part:ident = $section:expr; $($rest:tt)*) => {
        sections!(@ [$($parts)*] [$($lines)* line!($part, $section),] $($rest)*);
    };
    (@ [$($parts:tt)*] [$($lines:tt)*] $heading:expr => $read:expr; $($rest:tt)*) => {
        sections!(@ [$($parts)*] [$($lines)* Line { heading: $heading, read: $read },] $($rest)*);
    };
    ({ $($others:tt)* } $($line:tt)*) => {
        sections!(@ [$($others)*] [] $($line)*);
    };
}

/// A section that is read into one part.
macro_rules! line {
    ($part:ident, $section:expr) => {
        Line {
            heading: $section.heading,
            read: |reading, suite, at| ($section.read)(reading, &mut suite.lost, &mut suite.$part, at),
        }
    };
}

sections! {
    {
        /// How often each case is run, unless the one who runs it says otherwise.
        pub repeat: Option<u32>,
        /// Where the first thing it says stands.
        pub(crate) head: Option<Span>,
        /// What it has besides, but could not be read.
        pub(crate) lost: Lost,
    }
    pub name: Option<Spanned<String>> = head::NAME;
    pub description: Option<String> = head::DESCRIPTION;
    head::INCLUDE_HEADING => nothing;
    /// Which model plays which role.
    pub models: Vec<Role> = role::SECTION;
    /// List prices of models.
    pub prices: Option<PriceList> = price_list::SECTION;
    pub tools: Vec<ServerSpec> = server::SECTION;
    pub records: Vec<Records> = records::SECTION;
    /// What is asked about each row; nothing when the rows are what is evaluated.
    pub ask: Option<Ask> = ask::SECTION;
    /// What is read from answers, for scenarios that name it.
    pub templates: Vec<(Spanned<String>, Template)> = template::SECTION;
    /// What answers are rated by, for scenarios that name it.
    pub rubrics: Vec<(Spanned<String>, Vec<Trait>)> = rubric::SECTION;
    pub scenarios: Vec<ScenarioText> = scenario::HEADING => cases::scenarios;
    /// Code that judges, and built-in evaluators.
    pub evaluators: Vec<Evaluator> = evaluator::SECTION;
    /// The tasks, in the order they were written; those of scenarios included.
    pub tasks: Vec<Task> = task::SECTION;
    tasks = deterministic_checks::SECTION;
    /// Dimensions beyond the usual ones.
    pub dimensions: Vec<Spanned<String>> = dimension::SECTION;
    /// Paths whose values make slices of the summary.
    pub group_by: Vec<Spanned<FieldPath>> = records::GROUP_BY;
    /// The path of what rows share, such as a document: rows with one value there are not independent of each other.
    pub cluster_by: Option<Spanned<FieldPath>> = records::CLUSTER_BY;
    /// The paths of a row that are the question rather than the answer.
    pub question: Vec<Spanned<FieldPath>> = records::QUESTION;
    /// What counts as good enough.
    pub thresholds: Thresholds = thresholds::SECTION;
    /// What a change must not do.
    pub gates: Option<Policy> = policy::SECTION;
    /// Those who are given cases.
    pub agents: Vec<AgentText> = agent::SECTION;
    pub cases: Vec<AgentCaseText> = case_text::HEADING => cases::agent_cases;
    /// Who judges runs, and how.
    pub evaluation: Option<Box<EvaluationText>> = evaluation::HEADING => cases::evaluation;
    /// Whether hooks may run the author's code.
    pub allows_hooks: bool = hook::SECTION;
    personal_agent_eval::HEADING => campaign::read;
    Heading::reserved("limits", "limits of a run") => nothing;
    Heading::reserved("python", "the Python that runs hooks") => nothing;
}

/// A section, and what becomes of it.
struct Line {
    heading: Heading,
    read: fn(&mut Reading<'_>, &mut Suite, &At<'_, '_>),
}

/// Read elsewhere, or not at all.
fn nothing(_: &mut Reading<'_>, _: &mut Suite, _: &At<'_, '_>) {}

pub(super) static SUITE: Object = Object { what: "a suite", keys: &KEYS };

static KEYS: [Key; LINES.len()] = {
    let mut keys = [LINES[0].heading.key; LINES.len()];
    let mut ix = 0;
    while ix < keys.len() {
        keys[ix] = LINES[ix].heading.key;
        ix += 1;
    }
    keys
};

/// Reads the sections of one file into the suite.
pub(super) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, suite: &mut Suite, is_main: bool) {
    if is_main {
        suite.head = Some(fields.head());
    }
    for Line { heading: Heading { key, parts }, read } in LINES {
        if let Some(node) = fields.node(key) {
            let key_span = fields.key_span(key).unwrap_or(node.span);
            read(reading, suite, &At { node, key_span, is_main });
        }
        suite.lost.add_if(fields.may_mean(key), parts);
    }
}
