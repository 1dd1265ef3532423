//! The verdicts, labels, scores and groups of all cases, as columns that the script of the file filters and sorts.

use jurat_core::plan::TaskIx;
use jurat_engine::view::{Code, Column, RunView, ViewError};
use serde_json::{Value as Json, json};

use super::omitted::Omitted;
use super::packed;

/// The columns of a run, packed.
pub(super) fn packed(view: &RunView, omitted: &Omitted) -> Result<String, ViewError> {
    Ok(packed::packed(&columns(view, omitted)?.to_string()))
}

fn columns(view: &RunView, omitted: &Omitted) -> Result<Json, ViewError> {
    let reader = view.reader();
    let (mut ids, mut places) = (Vec::new(), Vec::new());
    for case in reader.identities() {
        let case = case?;
        ids.push(omitted.text(&view.name_of(&case)));
        places.push(usize::try_from(case.case_ix.0).unwrap_or(usize::MAX));
    }
    let variant = |place: &usize| {
        let of_case = view.variant(jurat_core::plan::CaseIx(*place as u64));
        of_case.map(|it| [it.prompt.clone(), it.subject.clone()].join(" ").trim().to_owned()).unwrap_or_default()
    };
    let variants: Vec<String> = places.iter().map(variant).collect();
    let codes = |column: Column| -> Result<String, ViewError> {
        let codes = reader.codes(column)?;
        Ok(places.iter().map(|it| letter(codes.get(*it).copied().flatten())).collect())
    };
    let mut tasks = Vec::new();
    for (ix, head) in view.head().tasks.iter().enumerate() {
        let column = Column::from(TaskIx(ix as u32));
        let (scores, labels) = (reader.scores(column)?, reader.labels(column)?);
        let has_scores = scores.iter().any(Option::is_some);
        let has_labels = labels.iter().any(Option::is_some);
        let score = |it: &usize| scores.get(*it).copied().flatten();
        let label = |it: &usize| labels.get(*it).cloned().flatten().map(|it| omitted.text(&it));
        tasks.push(json!({
            "id": head.id,
            "codes": codes(column)?,
            "scores": has_scores.then(|| places.iter().map(score).collect::<Vec<_>>()),
            "labels": has_labels.then(|| places.iter().map(label).collect::<Vec<_>>()),
        }));
    }
    let mut groups = Vec::new();
    for path in &view.plan().group_by {
        if let Some(values) = reader.groups(&path.to_string())? {
            let value = |it: &usize| values.get(*it).cloned().flatten().map(|it| omitted.text(&it));
            groups.push(json!({ "path": path.to_string(), "values": places.iter().map(value).collect::<Vec<_>>() }));
        }
    }
    let is_dense = places.iter().enumerate().all(|(ix, place)| ix == *place);
    let has_variants = variants.iter().any(|it| !it.is_empty());
    Ok(json!({
        "ids": ids,
        "numbers": (!is_dense).then_some(places.clone()),
        "variants": has_variants.then_some(variants),
        "codes": codes(Column::CASE)?,
        "tasks": tasks,
        "groups": groups,
    }))
}

/// A letter for a verdict, as `file.js` reads it.
fn letter(code: Option<Code>) -> char {
    match code {
        Some(Code::Passed) => 'p',
        Some(Code::Failed) => 'f',
        Some(Code::Measured) => 'm',
        Some(Code::SkippedByGate | Code::SkippedByError) => 's',
        Some(Code::Error) => 'e',
        Some(Code::NotRun) => 'n',
        Some(Code::NotJudged) => 'j',
        Some(Code::Absent) | None => '-',
    }
}
