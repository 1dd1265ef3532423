//! The verdicts, labels, scores and groups of all cases, and what they took, as columns that the script of the file filters and sorts.

use jurat_core::plan::TaskIx;
use jurat_engine::view::query::{CaseTexts, ColumnCache, Columns, Spent};
use jurat_engine::view::{Code, Column, RunView, Variant, ViewError};
use serde_json::{Map, Value as Json, json};

use super::FileOptions;
use super::omitted::Omitted;
use super::packed;

/// The columns of a run, packed. What a replay does not reproduce is left out where only results are wanted.
pub(super) fn packed(view: &RunView, omitted: &Omitted, options: &FileOptions) -> Result<String, ViewError> {
    let cache = ColumnCache::default();
    let file = File { view, columns: cache.of(view)?, omitted, places: places(view, options)? };
    Ok(packed::packed(&file.json(options.results_only)?.to_string()))
}

fn places(view: &RunView, options: &FileOptions) -> Result<Vec<usize>, ViewError> {
    let mut places = Vec::new();
    for ending in view.reader().endings() {
        let case = ending?.0;
        if options.has(case) {
            places.push(case.index());
        }
    }
    Ok(places)
}

struct File<'f> {
    view: &'f RunView,
    columns: Columns<'f>,
    omitted: &'f Omitted,
    /// The numbers of the cases that are there.
    places: Vec<usize>,
}

impl File<'_> {
    fn json(&self, results_only: bool) -> Result<Json, ViewError> {
        let ids = self.columns.ids(self.view)?;
        let ids: Vec<String> = self.places.iter().map(|it| self.omitted.text(ids.get(*it as u32))).collect();
        let is_dense = self.places.iter().enumerate().all(|(ix, place)| ix == *place);
        let is_repeated = self.view.head().variants.iter().any(|it| it.replicate > 0);
        let mut json = json!({
            "ids": ids,
            "numbers": (!is_dense).then_some(&self.places),
            "variants": self.variants(),
            "isRepeated": is_repeated,
            "codes": self.codes(Column::CASE)?,
            "tasks": self.tasks()?,
            "paths": self.view.plan().group_by.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "groups": self.groups()?,
            "flaky": if is_repeated { Some(self.flaky()?) } else { None },
            "isResultsOnly": results_only,
        });
        if !results_only {
            let amounts = self.amounts()?;
            json.as_object_mut().expect("it is an object").extend(amounts);
        }
        Ok(json)
    }

    fn of_cases<T>(&self, of: impl Fn(usize) -> T) -> Vec<T> {
        self.places.iter().map(|it| of(*it)).collect()
    }

    fn codes(&self, column: Column) -> Result<String, ViewError> {
        let codes = self.columns.codes(self.view, column)?;
        Ok(self.places.iter().map(|it| letter(codes.get(*it).copied().flatten())).collect())
    }

    fn variants(&self) -> Vec<Json> {
        let json = |it: &Variant| json!({ "prompt": it.prompt, "subject": it.subject, "replicate": it.replicate + 1 });
        self.view.head().variants.iter().map(json).collect()
    }

    fn tasks(&self) -> Result<Vec<Json>, ViewError> {
        let tasks = self.view.head().tasks.iter().enumerate();
        tasks.map(|(ix, head)| self.task(&head.id, Column::from(TaskIx(ix as u32)))).collect()
    }

    fn task(&self, id: &str, column: Column) -> Result<Json, ViewError> {
        let scores = self.columns.scores(self.view, column)?;
        let labels = self.columns.labels(self.view, column)?;
        let score = |it: usize| scores.get(it).copied().filter(|it| !it.is_nan());
        Ok(json!({
            "id": id,
            "codes": self.codes(column)?,
            "scores": scores.iter().any(|it| !it.is_nan()).then(|| self.of_cases(score)),
            "labels": (!labels.texts.is_empty()).then(|| self.texts(&labels)),
        }))
    }

    /// A dictionary, and the number of each case in it; -1 where it has none.
    fn texts(&self, texts: &CaseTexts) -> Json {
        let number =
            |it: usize| texts.numbers.get(it).filter(|it| **it != CaseTexts::NONE).map_or(-1, |it| i64::from(*it));
        let dictionary: Vec<String> = texts.texts.iter().map(|it| self.omitted.text(it)).collect();
        json!({ "texts": dictionary, "numbers": self.of_cases(number) })
    }

    fn groups(&self) -> Result<Vec<Json>, ViewError> {
        let mut groups = Vec::new();
        for path in self.view.plan().group_by.iter().map(ToString::to_string) {
            if let Some(texts) = self.columns.groups(self.view, &path)?.as_ref() {
                let mut group = self.texts(texts);
                group["path"] = path.into();
                groups.push(group);
            }
        }
        Ok(groups)
    }

    fn flaky(&self) -> Result<String, ViewError> {
        let flaky = self.columns.flaky(self.view)?;
        Ok(self.places.iter().map(|it| if flaky.get(*it) == Some(&true) { '1' } else { '0' }).collect())
    }

    /// How long cases took and what their responses cost, by the names that queries have for them.
    fn amounts(&self) -> Result<Map<String, Json>, ViewError> {
        let took = self.columns.took(self.view)?;
        let took = |it: usize| took.get(it).copied().filter(|it| *it != u64::MAX);
        let mut amounts = Map::from_iter([("took".to_owned(), json!(self.of_cases(took)))]);
        let spent = self.columns.spent(self.view)?;
        if spent.is_empty() {
            return Ok(amounts);
        }
        let of = |amount: &dyn Fn(&Spent) -> Option<u64>| json!(self.of_cases(|it| spent.get(it).and_then(amount)));
        let answered = |it: &Spent| it.answers > 0;
        amounts.extend([
            ("cost".to_owned(), of(&|it| it.cost_usd().map(|_| it.nano_dollars))),
            ("tokens".to_owned(), of(&|it| answered(it).then_some(it.tokens))),
            ("latency".to_owned(), of(&|it| answered(it).then(|| it.latency().as_micros() as u64))),
            ("requests".to_owned(), of(&|it| (answered(it) || it.requests > 0).then_some(it.requests.into()))),
            ("reused".to_owned(), self.of_cases(|it| reused(spent.get(it))).into_iter().collect::<String>().into()),
        ]);
        Ok(amounts)
    }
}

/// A mark for a case whose answers were all reused, for one whose were not, and for one that has none.
fn reused(spent: Option<&Spent>) -> char {
    match spent.filter(|it| it.answers > 0) {
        Some(it) if it.reused == it.answers => '1',
        Some(_) => '0',
        None => '-',
    }
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
