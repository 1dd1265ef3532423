//! Labels and the cases that they are about.

use std::collections::BTreeMap;

use jurat_core::calibration::{LabelCounts, Misread, Rated};
use jurat_core::label::{Label, Standing};
use jurat_core::plan::CaseIx;
use jurat_format::codes;
use jurat_format::id::same_id;
use jurat_format::problem::{Problem, Problems};
use jurat_format::value::{Span, Spanned};
use jurat_store::run::StoredCase;

use super::judged::Judged;
use crate::CaseLabel;
use crate::view::{RunView, ViewError};

/// Labels that belong to cases of the run.
pub(super) struct Matched {
    pub(super) rated: Vec<Rated>,
    pub(super) annotators: Vec<String>,
    pub(super) counts: LabelCounts,
}

/// What someone is called who gave no name.
const UNNAMED: &str = "unnamed";

/// A label that fits a case, while labels are gathered.
struct Given {
    annotator: String,
    rating: f64,
    span: Span,
    is_of_log: bool,
}

#[derive(Default)]
struct Gathered {
    case: String,
    subject: Option<String>,
    judge: f64,
    given: Vec<Given>,
    stratum: Option<String>,
    weight: Option<f64>,
}

/// The case that a label is about.
enum Found {
    Case(Box<StoredCase>),
    /// The run does not have it.
    No,
    /// The run has it with another answer.
    OtherAnswer,
    Several(usize),
}

/// Finds the case of each label. Labels that have none are counted, never dropped.
pub(super) fn match_labels(
    view: &RunView,
    judged: &Judged,
    labels: &Standing,
    problems: &mut Problems,
) -> Result<Matched, ViewError> {
    let mut counts = LabelCounts { empty: labels.n_empty, unsure: labels.n_unsure, ..LabelCounts::default() };
    let task = &view.plan().tasks[judged.task.index()].id;
    let mut gathered: BTreeMap<CaseIx, Gathered> = BTreeMap::new();
    for label in &labels.given {
        let is_other = |of: &Option<String>, own: &str| of.as_ref().is_some_and(|it| !same_id(it, own));
        if is_other(&label.value.task, task) || is_other(&label.value.suite, &view.head().suite) {
            counts.other_task += 1;
            continue;
        }
        let case = match found(view, &label.value)? {
            Found::Case(case) => case,
            Found::No => {
                counts.unmatched += 1;
                continue;
            }
            Found::OtherAnswer => {
                counts.other_answer += 1;
                continue;
            }
            Found::Several(n) => {
                problems.push(several(label, n));
                continue;
            }
        };
        match (judged.scale.rating(&label.value), judged.rating(&case)) {
            (Err(misread), _) => problems.push(misread_at(label.span, misread)),
            (Ok(_), None) => counts.judge_error += 1,
            (Ok(rating), Some(judge)) => {
                let of_case = gathered.entry(case.case_ix).or_insert_with(|| begun(view, &case, judge));
                add(of_case, label, rating, problems);
            }
        }
    }
    let mut annotators: Vec<String> =
        gathered.values().flat_map(|it| it.given.iter().map(|it| it.annotator.clone())).collect();
    annotators.sort_unstable();
    annotators.dedup();
    counts.n = gathered.values().map(|it| it.given.len() as u64).sum();
    counts.annotators.clone_from(&annotators);
    let rated: Vec<Rated> = gathered.into_values().map(|it| rated(it, &annotators)).collect();
    counts.digest = digest(&rated, &annotators);
    Ok(Matched { rated, annotators, counts })
}

fn begun(view: &RunView, case: &StoredCase, judge: f64) -> Gathered {
    let variant = view.variant(case.case_ix);
    let label = CaseLabel { id: &view.case_name(case), variant }.to_string();
    let subject = variant.map(|it| it.subject.clone()).filter(|it| !it.is_empty());
    Gathered { case: label, subject, judge, ..Gathered::default() }
}

/// Adds a label to those of its case. Of a log the last one counts, which is the one that comes last.
fn add(of_case: &mut Gathered, label: &Spanned<Label>, rating: f64, problems: &mut Problems) {
    let annotator = label.value.annotator.clone().unwrap_or_else(|| UNNAMED.to_owned());
    let is_of_log = label.value.at.is_some();
    of_case.stratum = of_case.stratum.take().or_else(|| label.value.stratum.clone());
    of_case.weight = of_case.weight.or(label.value.weight);
    let given = Given { annotator, rating, span: label.span, is_of_log };
    match of_case.given.iter_mut().find(|it| it.annotator == given.annotator) {
        None => of_case.given.push(given),
        Some(before) if before.is_of_log || given.is_of_log => *before = given,
        Some(before) => problems.push(
            Problem::new(&codes::BAD_ROWS, format!("`{}` labelled `{}` twice", given.annotator, of_case.case))
                .at(given.span, "again here")
                .at(before.span, "labelled here")
                .help("remove one of the lines, or give each annotator a name of their own under `annotator`"),
        ),
    }
}

fn rated(of_case: Gathered, annotators: &[String]) -> Rated {
    let said = |name: &String| of_case.given.iter().find(|it| it.annotator == *name).map(|it| it.rating);
    Rated {
        people: annotators.iter().map(said).collect(),
        case: of_case.case,
        subject: of_case.subject,
        judge: of_case.judge,
        stratum: of_case.stratum,
        weight: of_case.weight,
    }
}

/// The digest of the labels that count, whatever the order of their lines.
fn digest(rated: &[Rated], annotators: &[String]) -> String {
    let mut lines: Vec<String> = rated.iter().map(|it| format!("{} {:?}", it.case, it.people)).collect();
    lines.sort_unstable();
    blake3::hash(format!("{annotators:?}\n{}", lines.join("\n")).as_bytes()).to_hex()[..32].to_owned()
}

fn found(view: &RunView, label: &Label) -> Result<Found, ViewError> {
    let mut cases = view.cases_named(&label.case)?;
    cases.retain(|case| {
        let variant = view.variant(case.case_ix).cloned().unwrap_or_default();
        let is = |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|it| it == has);
        is(&label.prompt, &variant.prompt)
            && is(&label.subject, &variant.subject)
            && label.replicate.is_none_or(|it| it == variant.replicate + 1)
    });
    if cases.is_empty() {
        return Ok(Found::No);
    }
    if let Some(evidence) = &label.evidence {
        for case in cases {
            if view.is_labelled_answer(&case, evidence)? {
                return Ok(Found::Case(Box::new(case)));
            }
        }
        return Ok(Found::OtherAnswer);
    }
    match cases.len() {
        1 => Ok(Found::Case(Box::new(cases.swap_remove(0)))),
        n => Ok(Found::Several(n)),
    }
}

fn several(label: &Spanned<Label>, n: usize) -> Problem {
    Problem::new(&codes::BAD_ROWS, format!("`{}` has {n} cases in this run", label.value.case))
        .at(label.span, "here")
        .help("say which one under `prompt`, `subject` or `replicate`")
}

fn misread_at(span: Span, misread: Misread) -> Problem {
    Problem::new(&codes::BAD_ROWS, misread.message).at(span, "here").help(misread.help)
}
