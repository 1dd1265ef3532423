//! The labels that count.

use std::collections::HashMap;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::value::Spanned;

use super::line::{Label, LabelKey, State};

/// The labels of some files, as far as they count.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// In the order of the files; of a log the last line of each annotator.
    pub given: Vec<Spanned<Label>>,
    /// Lines without a label yet.
    pub n_empty: u64,
    /// Cases that an annotator could not decide.
    pub n_unsure: u64,
    /// Of these, the ones that a log says.
    pub unsure: Vec<Spanned<Label>>,
    /// Labels that were taken back.
    pub n_removed: u64,
}

/// Finds the labels that count: of a log the last line of each annotator about a case, of a sheet the only one. A second one in sheets is a problem,
/// because nothing says which of them is meant.
///
/// Lines without a label or a score are no second ones: a sheet may be filled in by several people, each in a copy of their own.
pub fn standing(labels: Vec<Spanned<Label>>, problems: &mut Problems) -> Standing {
    let mut standing = Standing::default();
    let mut last: HashMap<LabelKey, usize> = HashMap::new();
    let mut found: Vec<Spanned<Label>> = Vec::with_capacity(labels.len());
    for label in labels {
        if label.value.at.is_none() && !label.value.is_given() {
            standing.n_empty += u64::from(label.value.state == State::Given);
            standing.n_unsure += u64::from(label.value.state == State::Unsure);
            continue;
        }
        match last.get(&label.value.key()).copied() {
            Some(before) if label.value.at.is_some() || found[before].value.at.is_some() => found[before] = label,
            Some(before) => problems.push(twice(&found[before], &label)),
            None => {
                last.insert(label.value.key(), found.len());
                found.push(label);
            }
        }
    }
    for label in found {
        match label.value.state {
            State::Given if label.value.is_given() => standing.given.push(label),
            State::Given => standing.n_empty += 1,
            State::Unsure => {
                standing.n_unsure += 1;
                standing.unsure.push(label);
            }
            State::Removed => standing.n_removed += 1,
        }
    }
    standing
}

fn twice(first: &Spanned<Label>, again: &Spanned<Label>) -> Problem {
    let who = first
        .value
        .annotator
        .as_deref()
        .map_or_else(|| "an annotator without a name".to_owned(), |it| format!("`{it}`"));
    Problem::new(&codes::BAD_ROWS, format!("{who} labelled `{}` twice", first.value.case))
        .at(again.span, "again here")
        .at(first.span, "labelled here")
        .help("remove one of the lines, or give each annotator a name of their own under `annotator`")
}
