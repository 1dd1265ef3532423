//! What each row is made into: every prompt, of every subject, as often as it is repeated.

use jurat_core::case;
use jurat_core::effect::Role;
use jurat_core::plan::{Plan, PlannedAsk};
use jurat_store::run::Variant;

/// What one variant asks, and whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The prompt, by its place.
    pub(crate) prompt: usize,
    pub(crate) model: Role,
    pub(crate) name: String,
    pub(crate) replicate: u32,
}

impl Asked {
    pub(crate) fn subject(&self) -> case::Asked<'_> {
        case::Asked { model: &self.model, name: &self.name, replicate: self.replicate }
    }
}

/// A model that is asked about each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub role: Role,
    pub name: String,
}

/// What the sources of a plan are made into; nothing where no subject is asked.
pub(crate) fn variants_of(plan: &Plan, subjects: &[Subject], repeat: u32) -> (Vec<Variant>, Vec<Asked>) {
    if !plan.asks_subjects() {
        return (Vec::new(), Vec::new());
    }
    variants(plan.ask.as_ref(), subjects, repeat)
}

/// The variants of a row, in order, with what each asks. Names are left out where there is only one.
pub(crate) fn variants(ask: Option<&PlannedAsk>, subjects: &[Subject], repeat: u32) -> (Vec<Variant>, Vec<Asked>) {
    let (mut variants, mut asked) = (Vec::new(), Vec::new());
    let prompts: Vec<&str> =
        ask.map_or_else(|| vec![""], |it| it.prompts.iter().map(|(name, _)| name.as_str()).collect());
    for (prompt, prompt_name) in prompts.iter().enumerate() {
        for subject in subjects {
            for replicate in 0..repeat.max(1) {
                let shown = |name: &str, n: usize| if n > 1 { name.to_owned() } else { String::new() };
                variants.push(Variant {
                    prompt: shown(prompt_name, prompts.len()),
                    subject: shown(&subject.name, subjects.len()),
                    replicate,
                });
                let (model, name) = (subject.role.clone(), subject.name.clone());
                asked.push(Asked { prompt, model, name, replicate });
            }
        }
    }
    (variants, asked)
}
