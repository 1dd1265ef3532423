//! A side without its texts, as JSON lines: small enough to commit, and read wherever a run is.
//!
//! The first line is about the run, each other one about a case: its id, digests of what was asked and answered, verdicts, scores and what it took.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use jurat_core::calibration::JudgeParts;
use jurat_core::contrast::provenance::{Definition, Finding, Part};
use jurat_core::contrast::{ChangeSide, Side};
use jurat_core::plan::{CaseIx, VariantCount};
use jurat_format::value::FieldPath;
use jurat_store::run::{Code, Column, RowKey, Variant, key_of};
use serde::{Deserialize, Serialize};

use super::CompareError;
use super::selection::Selection;
use super::table::{Amount, Asked, CaseAsked, RowTexts, Table, TaskInfo};
use crate::view::ViewError;

/// The version of this format. Members may be added without changing it.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    jurat_baseline: u32,
    run_id: String,
    suite: String,
    suite_hash: String,
    version: String,
    complete: bool,
    by_content: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    n_variants: usize,
    /// How many scenarios and agent cases there are. Baselines without it digested the names of this program's fields with what those ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_defined: Option<u64>,
    variants: Vec<HeadVariant>,
    tasks: Vec<HeadTask>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    prompts: BTreeMap<String, HeadPart>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    subjects: BTreeMap<String, HeadPart>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    served: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    group_by: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeadVariant {
    ix: usize,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    prompt: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    subject: String,
    #[serde(default)]
    replicate: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeadTask {
    id: String,
    condition: bool,
    judges: bool,
    parts: Vec<(String, HeadPart)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeadPart {
    words: String,
    digest: String,
}

/// The line of a case.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CaseLine {
    id: String,
    /// The number of the case in its run.
    n: u64,
    /// How the case and each of its tasks ended, a digit each: the codes of run files.
    codes: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    scores: BTreeMap<u32, f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<u32, String>,
    /// Digests in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recorded: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    groups: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Whether the id is that of the row's content. Older baselines say that of all rows alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_content: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judging: Option<Amount>,
}

impl CaseLine {
    fn case_ix(&self) -> CaseIx {
        CaseIx::numbered(self.n)
    }
}

/// Why a baseline cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes a side as a baseline.
pub(super) fn write(table: &dyn Table, out: &mut dyn Write) -> Result<(), BaselineError> {
    let asked = table.asked()?;
    write_line(out, &head(table, &asked)?)?;
    let columns: Vec<Column> = std::iter::once(Column::CASE).chain(table.tasks().iter().map(|it| it.column)).collect();
    let codes = columns.iter().map(|it| table.codes(*it)).collect::<Result<Vec<_>, _>>()?;
    let scores = columns.iter().map(|it| table.scores(*it)).collect::<Result<Vec<_>, _>>()?;
    let labels = columns.iter().map(|it| table.labels(*it)).collect::<Result<Vec<_>, _>>()?;
    let (questions, recorded) = (table.questions()?, table.recorded()?);
    let mut groups = Vec::new();
    for path in table.group_by().into_iter().chain(table.cluster_by()) {
        groups.extend(table.values(&path)?.map(|values| (path.to_string(), values)));
    }
    let nameless = table.nameless()?;
    for (case_ix, ended) in CaseIx::each().zip(&codes[0]) {
        if ended.is_none() || !table.has(case_ix) {
            continue;
        }
        let case = case_ix.index();
        let digit = |codes: &Vec<Option<Code>>| codes.get(case).copied().flatten().unwrap_or(Code::Absent) as u8;
        let digest = |of: &[u128]| of.get(case).filter(|it| **it != 0).map(|it| format!("{it:032x}"));
        let of_case = asked.cases.get(&case_ix);
        let amount = |of: fn(&CaseAsked) -> Amount| of_case.map(of).filter(|it| it.answers > 0);
        let row = table.n_variants().place(case_ix);
        let line = CaseLine {
            id: table.row_id(case_ix)?,
            n: case_ix.number(),
            codes: codes.iter().map(|it| char::from(b'0' + digit(it))).collect(),
            scores: present(&scores, case),
            labels: present(&labels, case),
            question: digest(&questions),
            recorded: digest(&recorded),
            answer: of_case.map(|it| it.answer).filter(|it| *it != 0).map(|it| format!("{it:032x}")),
            groups: groups.iter().filter_map(|(path, it)| Some((path.clone(), it.get(row)?.to_owned()))).collect(),
            tags: table.tags(case_ix)?,
            by_content: nameless.contains(&row),
            subject: amount(|it| it.subject),
            judging: amount(|it| it.judging),
        };
        write_line(out, &line)?;
    }
    Ok(())
}

fn present<T: Clone>(columns: &[Vec<Option<T>>], case: usize) -> BTreeMap<u32, T> {
    let of_column = |(column, values): (u32, &Vec<Option<T>>)| Some((column, values.get(case)?.clone()?));
    (0..).zip(columns).filter_map(of_column).collect()
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn head(table: &dyn Table, asked: &Asked) -> Result<Head, ViewError> {
    let (side, definition) = (table.side(), table.definition());
    let part = |it: &Part| HeadPart { words: it.words.clone(), digest: it.digest.clone() };
    let parts = |of: &BTreeMap<String, Part>| of.iter().map(|(name, it)| (name.clone(), part(it))).collect();
    let of_task = |task: &TaskInfo| HeadTask {
        id: task.id.clone(),
        condition: task.is_condition,
        judges: task.judges,
        parts: definition
            .tasks
            .iter()
            .filter(|it| it.0 == task.id)
            .flat_map(|it| it.1.iter().map(|(finding, it)| (finding.name().to_owned(), part(it))))
            .collect(),
    };
    let variant = |(ix, it): &(usize, Variant)| HeadVariant {
        ix: *ix,
        prompt: it.prompt.clone(),
        subject: it.subject.clone(),
        replicate: it.replicate,
    };
    Ok(Head {
        jurat_baseline: VERSION,
        run_id: side.run_id.clone(),
        suite: side.suite.clone(),
        suite_hash: side.suite_hash.clone(),
        version: definition.version.clone(),
        complete: side.is_complete,
        by_content: table.is_by_content()?,
        partial: definition.partial.clone(),
        stopped: definition.stopped.clone(),
        n_variants: table.n_variants().get(),
        n_defined: table.n_defined(),
        variants: table.variants().iter().map(variant).collect(),
        tasks: table.tasks().iter().map(of_task).collect(),
        prompts: parts(&definition.prompts),
        subjects: parts(&definition.subjects),
        served: asked.served.iter().map(|(task, it)| (task.clone(), it.clone())).collect(),
        cluster_by: table.cluster_by().map(|it| it.to_string()),
        group_by: table.group_by().iter().map(ToString::to_string).collect(),
    })
}

/// A baseline that is read.
#[derive(Debug)]
pub(super) struct BaselineTable {
    side: Side,
    definition: Definition,
    variants: Vec<(usize, Variant)>,
    tasks: Vec<TaskInfo>,
    head: Head,
    /// By the number of the case.
    cases: Vec<Option<CaseLine>>,
}

impl BaselineTable {
    pub(super) fn read(path: &Path, selection: &Selection) -> Result<BaselineTable, CompareError> {
        let file = || path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| CompareError::File { file: file(), source })?;
        let bad = |line: usize, reason: String| CompareError::Baseline { file: file(), line, reason };
        let mut lines = text.lines().enumerate().filter(|it| !it.1.trim().is_empty());
        let (_, first) = lines.next().ok_or_else(|| bad(1, "there is none".to_owned()))?;
        let head: Head = serde_json::from_str(first).map_err(|it| bad(1, it.to_string()))?;
        if head.jurat_baseline != VERSION {
            return Err(bad(1, format!("version {} is newer than this jurat", head.jurat_baseline)));
        }
        let mut cases: Vec<Option<CaseLine>> = Vec::new();
        for (ix, line) in lines {
            let case: CaseLine = serde_json::from_str(line).map_err(|it| bad(ix + 1, it.to_string()))?;
            let at = usize::try_from(case.n).ok().filter(|it| *it < MOST_CASES);
            let at = at.ok_or_else(|| bad(ix + 1, format!("no case has the number {}", case.n)))?;
            if case.codes.len() != head.tasks.len() + 1 || !case.codes.bytes().all(|it| matches!(it, b'0'..=b'8')) {
                return Err(bad(ix + 1, "`codes` has a digit from 0 to 8 for the case and for each task".to_owned()));
            }
            if cases.len() <= at {
                cases.resize_with(at + 1, || None);
            }
            if cases[at].replace(case).is_some() {
                return Err(bad(ix + 1, "the case is there twice".to_owned()));
            }
        }
        Ok(BaselineTable::of(head, cases, selection))
    }

    fn of(head: Head, cases: Vec<Option<CaseLine>>, selection: &Selection) -> BaselineTable {
        let variant = |it: &HeadVariant| {
            (it.ix, Variant { prompt: it.prompt.clone(), subject: it.subject.clone(), replicate: it.replicate })
        };
        let variants: Vec<(usize, Variant)> =
            head.variants.iter().map(variant).filter(|it| selection.is_meant(&it.1)).collect();
        let side = Side {
            name: selection.to_string(),
            run_id: head.run_id.clone(),
            suite: head.suite.clone(),
            suite_hash: head.suite_hash.clone(),
            prompt: selection.prompt.clone(),
            subject: selection.subject.clone(),
            cases: 0,
            is_complete: head.complete,
        };
        let tasks = (1..).zip(&head.tasks).map(|(column, it)| TaskInfo {
            id: it.id.clone(),
            column: Column(column),
            is_condition: it.condition,
            judges: it.judges,
        });
        let mut table =
            BaselineTable { side, definition: definition(&head), variants, tasks: tasks.collect(), head, cases };
        table.side.cases = table.cases.iter().flatten().filter(|it| table.has(it.case_ix())).count() as u64;
        table
    }

    fn column<T>(&self, of: impl Fn(&CaseLine) -> Option<T>) -> Vec<Option<T>> {
        self.cases.iter().map(|it| it.as_ref().and_then(&of)).collect()
    }

    fn digests(&self, of: fn(&CaseLine) -> &Option<String>) -> Vec<u128> {
        self.column(|it| of(it).as_deref().and_then(hexadecimal)).into_iter().map(Option::unwrap_or_default).collect()
    }

    fn case(&self, case: CaseIx) -> Option<&CaseLine> {
        self.cases.get(case.index())?.as_ref()
    }

    fn row(&self, line: &CaseLine) -> u64 {
        self.n_variants().place(line.case_ix())
    }
}

/// No baseline has more cases, so that a damaged one cannot ask for all the memory there is.
const MOST_CASES: usize = 100_000_000;

fn hexadecimal(text: &str) -> Option<u128> {
    u128::from_str_radix(text, 16).ok()
}

fn definition(head: &Head) -> Definition {
    let part = |it: &HeadPart| Part { words: it.words.clone(), digest: it.digest.clone() };
    let parts = |of: &BTreeMap<String, HeadPart>| of.iter().map(|(name, it)| (name.clone(), part(it))).collect();
    let of_task = |task: &HeadTask| {
        let known = task.parts.iter().filter_map(|(name, it)| Some((Finding::named(name)?, part(it))));
        (task.id.clone(), known.collect())
    };
    Definition {
        suite: head.suite.clone(),
        version: head.version.clone(),
        tasks: head.tasks.iter().map(of_task).collect(),
        prompts: parts(&head.prompts),
        subjects: parts(&head.subjects),
        partial: head.partial.clone(),
        stopped: head.stopped.clone(),
    }
}

impl Table for BaselineTable {
    fn side(&self) -> &Side {
        &self.side
    }

    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn variants(&self) -> &[(usize, Variant)] {
        &self.variants
    }

    fn n_variants(&self) -> VariantCount {
        VariantCount::of(self.head.n_variants)
    }

    fn n_defined(&self) -> Option<u64> {
        self.head.n_defined
    }

    fn tasks(&self) -> &[TaskInfo] {
        &self.tasks
    }

    fn judge_parts(&self, _: Column) -> Option<JudgeParts> {
        None
    }

    fn keys<'t>(&'t self) -> Result<Box<dyn Iterator<Item = Result<RowKey, ViewError>> + 't>, ViewError> {
        let key = |it: &CaseLine| RowKey { hash: key_of(&it.id), row: self.row(it) };
        let mut keys: Vec<RowKey> = self.cases.iter().flatten().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(Box::new(keys.into_iter().map(Ok)))
    }

    fn is_by_content(&self) -> Result<bool, ViewError> {
        Ok(self.head.by_content)
    }

    fn nameless(&self) -> Result<HashSet<u64>, ViewError> {
        let is_nameless = |it: &&CaseLine| self.head.by_content || it.by_content;
        Ok(self.cases.iter().flatten().filter(is_nameless).map(|it| self.row(it)).collect())
    }

    fn codes(&self, column: Column) -> Result<Vec<Option<Code>>, ViewError> {
        Ok(self.column(|it| Code::numbered(it.codes.as_bytes().get(column.index())? - b'0')))
    }

    fn codes_of(&self, case: CaseIx) -> Result<Vec<Code>, ViewError> {
        let found = self.case(case);
        Ok(found.map(|it| it.codes.bytes().filter_map(|it| Code::numbered(it - b'0')).collect()).unwrap_or_default())
    }

    fn scores(&self, column: Column) -> Result<Vec<Option<f64>>, ViewError> {
        let scores = self.column(|it| it.scores.get(&column.0).copied());
        Ok(if scores.iter().all(Option::is_none) { Vec::new() } else { scores })
    }

    fn labels(&self, column: Column) -> Result<Vec<Option<String>>, ViewError> {
        let labels = self.column(|it| it.labels.get(&column.0).cloned());
        Ok(if labels.iter().all(Option::is_none) { Vec::new() } else { labels })
    }

    fn questions(&self) -> Result<Vec<u128>, ViewError> {
        Ok(self.digests(|it| &it.question))
    }

    fn recorded(&self) -> Result<Vec<u128>, ViewError> {
        Ok(self.digests(|it| &it.recorded))
    }

    fn asked(&self) -> Result<Asked, ViewError> {
        let of_case = |it: &CaseLine| {
            let asked = CaseAsked {
                subject: it.subject.unwrap_or_default(),
                judging: it.judging.unwrap_or_default(),
                answer: it.answer.as_deref().and_then(hexadecimal).unwrap_or_default(),
                reused: None,
            };
            (it.subject.is_some() || it.judging.is_some()).then_some((it.case_ix(), asked))
        };
        let served: HashMap<String, Vec<String>> =
            self.head.served.iter().map(|(task, it)| (task.clone(), it.clone())).collect();
        Ok(Asked { cases: self.cases.iter().flatten().filter_map(of_case).collect(), served })
    }

    fn values(&self, path: &FieldPath) -> Result<Option<RowTexts>, ViewError> {
        let path = path.to_string();
        let is_known = self.head.group_by.contains(&path) || self.head.cluster_by.as_ref() == Some(&path);
        let value = |it: &CaseLine| Some((self.row(it), it.groups.get(&path)?.clone()));
        Ok(is_known.then(|| self.cases.iter().flatten().filter_map(value).collect()))
    }

    fn tagged(&self, tag: &str) -> Result<Option<HashSet<u64>>, ViewError> {
        let own = self.cases.iter().flatten().filter(|it| it.tags.iter().any(|it| it == tag));
        Ok(Some(own.map(|it| self.row(it)).collect()))
    }

    fn tags(&self, case: CaseIx) -> Result<Vec<String>, ViewError> {
        let found = self.case(case);
        Ok(found.map(|it| it.tags.clone()).unwrap_or_default())
    }

    fn cluster_by(&self) -> Option<FieldPath> {
        self.head.cluster_by.as_deref().and_then(|it| FieldPath::parse(it).ok())
    }

    fn group_by(&self) -> Vec<FieldPath> {
        self.head.group_by.iter().filter_map(|it| FieldPath::parse(it).ok()).collect()
    }

    fn id(&self, case: CaseIx) -> Result<String, ViewError> {
        self.row_id(case)
    }

    fn row_id(&self, case: CaseIx) -> Result<String, ViewError> {
        let found = self.case(case);
        Ok(found.map_or_else(String::new, |it| it.id.clone()))
    }

    fn each_name(&self, take: &mut dyn FnMut(CaseIx, &str)) -> Result<(), ViewError> {
        self.cases.iter().flatten().for_each(|it| take(it.case_ix(), &it.id));
        Ok(())
    }

    /// A baseline holds no texts.
    fn describe(&self, _: CaseIx, _: Option<&str>, _: &mut ChangeSide) -> Result<(), ViewError> {
        Ok(())
    }
}
