//! Which of the cases that a row is made into: the prompt and the subject.

use clap::Args;
use jurat::view::RunView;
use jurat::view::{RunHead, Variant};
use jurat_format::problem::listed_all;

use crate::failure::Failure;

/// The options that choose a prompt and a subject.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct VariantOptions {
    /// Only cases of this prompt
    #[arg(long, value_name = "PROMPT", help_heading = "Variants")]
    pub(crate) prompt: Option<String>,
    /// Only cases of this subject
    #[arg(long, value_name = "MODEL", help_heading = "Variants")]
    pub(crate) subject: Option<String>,
}

impl VariantOptions {
    /// Whether one was chosen.
    pub(crate) fn is_given(&self) -> bool {
        self.prompt.is_some() || self.subject.is_some()
    }

    /// Whether a variant is meant.
    pub(crate) fn is_meant(&self, variant: &Variant) -> bool {
        let is_same = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|it| it == found);
        is_same(&self.prompt, &variant.prompt) && is_same(&self.subject, &variant.subject)
    }

    /// Whether a run has such cases; else which ones it has.
    pub(crate) fn can_be(&self, view: &RunView) -> Result<(), Failure> {
        has(view, "prompt", self.prompt.as_deref(), |it| &it.prompt)?;
        has(view, "subject", self.subject.as_deref(), |it| &it.subject)
    }
}

fn has(view: &RunView, what: &str, wanted: Option<&str>, name: fn(&Variant) -> &str) -> Result<(), Failure> {
    let RunHead { id, variants, .. } = view.head();
    match wanted.filter(|wanted| !variants.iter().any(|it| name(it) == *wanted)) {
        None => Ok(()),
        Some(wanted) => {
            let known = known(what, variants.iter().map(name));
            Err(Failure::Reason(format!("the run `{id}` has no {what} `{wanted}`: {known}")))
        }
    }
}

/// The names that there are, in words.
pub(crate) fn known<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    for name in names.filter(|it| !it.is_empty()) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    match known.len() {
        0 => format!("there is one {what} only"),
        _ => format!("there are {}", listed_all(known)),
    }
}
