//! Which units a query means: the language of cases, with keys that are about two sides.

use jurat_core::contrast::{Cause, ChangeKind, Repetitions};
use jurat_format::problem::{listed_all, nearest};
use jurat_format::value::FieldPath;

use super::{FoundUnits, PairedUnit, PairedUnits, Tables, shared_tasks};
use crate::contrast::CompareError;
use crate::contrast::contrasting::mean_score;
use crate::contrast::pairing::Column;
use crate::contrast::selection::Group;
use crate::contrast::spending::UnitCases;
use crate::contrast::table::TaskInfo;
use crate::view::ViewError;
use crate::view::query::operand::{Glob, Unit, needles};
use crate::view::query::reading::Reading;
use crate::view::query::syntax::{Operator, Spanned, Written, WrittenTerm};
use crate::view::query::{Mask, QueryProblem, quoted_name};

/// Why a query finds nothing.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error(transparent)]
    Query(#[from] QueryProblem),
    #[error(transparent)]
    Compare(#[from] CompareError),
}

impl From<ViewError> for FindError {
    fn from(error: ViewError) -> FindError {
        FindError::Compare(error.into())
    }
}

/// Keys that are about units.
const KEYS: [&str; 7] = ["change", "delta", "cause", "id", "group", "subject", "prompt"];

/// Keys that are about cases of one run: of NEW, or of BASE where NEW lacks the unit.
const OF_CASES: [&str; 12] = [
    "verdict",
    "task",
    "label",
    "score",
    "replicate",
    "took",
    "cost",
    "tokens",
    "latency",
    "requests",
    "reused",
    "flaky",
];

pub(super) fn find(units: &PairedUnits, tables: Tables<'_>, query: &str) -> Result<FoundUnits, FindError> {
    let written = Written::parse(query)?;
    let meaning = Meaning { units, tables, reading: Reading { query } };
    let found = meaning.mask(&written)?;
    Ok(FoundUnits { units: ordered(units, &found), terms: written.terms() })
}

/// Units in the order in which they are listed.
pub(super) fn ordered(units: &PairedUnits, found: &Mask) -> Vec<u32> {
    let mut found: Vec<u32> = found.cases().collect();
    // Stable, so that those that are alike stay in the order of BASE.
    found.sort_by(|one, other| {
        let [one, other] = [one, other].map(|it| &units.units[*it as usize]);
        let key = |it: &PairedUnit| (it.kind, !it.is_critical);
        key(one).cmp(&key(other)).then_with(|| other.size.total_cmp(&one.size))
    });
    found
}

struct Meaning<'m> {
    units: &'m PairedUnits,
    tables: Tables<'m>,
    reading: Reading<'m>,
}

impl Meaning<'_> {
    fn mask(&self, written: &Written) -> Result<Mask, FindError> {
        let n = self.units.len();
        let all = |parts: &[Written]| parts.iter().map(|it| self.mask(it)).collect::<Result<Vec<Mask>, FindError>>();
        Ok(match written {
            Written::All(parts) => all(parts)?.iter().fold(Mask::all(n), Mask::and),
            Written::Any(parts) => all(parts)?.iter().fold(Mask::none(n), Mask::or),
            Written::Not(part) => self.mask(part)?.not(),
            Written::Term(term) => self.term(term)?,
        })
    }

    fn term(&self, term: &WrittenTerm) -> Result<Mask, FindError> {
        let Some(key) = &term.key else {
            let needles = needles(&term.values);
            return Ok(self.named(|name| needles.iter().any(|it| it.is_in(name)))?);
        };
        if key.text == "delta" {
            return self.delta(term);
        }
        if OF_CASES.contains(&key.text.as_str()) {
            return self.of_cases(term);
        }
        self.reading.is_or_not(term)?;
        let found = match key.text.as_str() {
            "change" => self.change(term)?,
            "cause" => {
                let causes = self.words(term, &Cause::NAMED, "cause")?;
                self.of(|it| it.causes().iter().any(|cause| causes.contains(cause)))
            }
            "id" => {
                let globs: Vec<Glob> = term.values.iter().map(|it| Glob::of(&it.text)).collect();
                self.named(|name| globs.iter().any(|it| it.fits(name)))?
            }
            "group" => self.group(term)?,
            "subject" => self.variant(term, "subject", |it| it.subject.as_ref())?,
            "prompt" => self.variant(term, "prompt", |it| it.prompt.as_ref())?,
            _ => return Err(self.unknown_key(key).into()),
        };
        Ok(if term.operator == Operator::IsNot { found.not() } else { found })
    }

    fn of(&self, is_meant: impl Fn(&PairedUnit) -> bool) -> Mask {
        Mask::of(self.units.units.iter().map(is_meant))
    }

    fn unknown_key(&self, key: &Spanned) -> QueryProblem {
        let keys = || KEYS.into_iter().chain(OF_CASES);
        let message = format!(
            "a comparison has no key `{}`; it has {}, and a text is looked for in ids",
            key.text,
            listed_all(keys())
        );
        self.reading.problem(key, message).meant(nearest(&key.text, keys()).map(str::to_owned))
    }

    /// The units with a case for which a term of one run holds.
    fn of_cases(&self, term: &WrittenTerm) -> Result<Mask, FindError> {
        let of_side = |side: usize| self.tables[side].cases_of_term(self.reading.query, term);
        let new = of_side(1)??;
        // A word that NEW knows and BASE does not finds nothing in BASE.
        let lacks_new = self.units.units.iter().any(|it| it.row(1).is_none());
        let base = if lacks_new { of_side(0)?.ok() } else { None };
        let found = self.of(|unit| {
            let (side, cases) = if unit.row(1).is_some() { (1, Some(&new)) } else { (0, base.as_ref()) };
            let mut own = self.units.cases(unit, self.tables[side], side).into_iter().flat_map(UnitCases::cases);
            cases.is_some_and(|it| {
                own.any(|case| self.units.counts_case(side, case) && it.mask.has(case.number() as u32))
            })
        });
        Ok(if new.is_turned { found.not() } else { found })
    }

    /// The values of a term, of a closed list.
    fn words<T: Copy>(&self, term: &WrittenTerm, all: &[(&str, T)], what: &str) -> Result<Vec<T>, QueryProblem> {
        let word = |value: &Spanned| {
            let found = all.iter().find(|(name, _)| *name == value.text).map(|(_, it)| *it);
            found.ok_or_else(|| {
                let names = listed_all(all.iter().map(|it| it.0));
                let near = nearest(&value.text, all.iter().map(|it| it.0)).map(str::to_owned);
                self.reading.problem(value, format!("`{}` is no {what}; there are {names}", value.text)).meant(near)
            })
        };
        term.values.iter().map(word).collect()
    }

    fn change(&self, term: &WrittenTerm) -> Result<Mask, FindError> {
        let kinds = self.words(term, &ChangeKind::NAMED, "change")?;
        let Some(name) = &term.name else { return Ok(self.of(|it| kinds.contains(&it.kind))) };
        let endings = self.endings(&self.task(name)?)?;
        Ok(self.of(|unit| match unit.kind {
            ChangeKind::OtherRow | ChangeKind::OnlyBase | ChangeKind::OnlyNew => kinds.contains(&unit.kind),
            _ => {
                let [was, now] = endings.of(self, unit);
                kinds.contains(&ChangeKind::of(&was, &now))
            }
        }))
    }

    /// How far the score of a task moved; where it has none, how far its rate did.
    fn delta(&self, term: &WrittenTerm) -> Result<Mask, FindError> {
        let name = term.name.as_ref().expect("keys with names have one");
        let (task, bound) = (self.task(name)?, self.reading.bound(term, Unit::Plain)?);
        let scores = [self.tables[0].scores(task[0].column)?, self.tables[1].scores(task[1].column)?];
        let moved = match scores.iter().all(Vec::is_empty) {
            false => Moved::Scores(scores),
            true => Moved::Rates(self.endings(&task)?),
        };
        let holds = |unit: &PairedUnit| moved.by(self, unit).is_some_and(|it| bound.holds(it));
        Ok(self.of(|unit| unit.kind != ChangeKind::OtherRow && holds(unit)))
    }

    fn task(&self, name: &Spanned) -> Result<[TaskInfo; 2], QueryProblem> {
        let tasks = shared_tasks(self.tables);
        if let Some(task) = tasks.iter().find(|it| it[0].id == name.text) {
            return Ok(task.clone());
        }
        let ids = || tasks.iter().map(|it| it[0].id.as_str());
        let message = format!("no task is called `{}` in both runs; there are {}", name.text, listed_all(ids()));
        Err(self.reading.problem(name, message).meant(nearest(&name.text, ids()).map(quoted_name)))
    }

    fn endings(&self, task: &[TaskInfo; 2]) -> Result<Endings, ViewError> {
        let mut codes = [self.tables[0].codes(task[0].column)?, self.tables[1].codes(task[1].column)?];
        for (codes, dropped) in codes.iter_mut().zip(&self.units.dropped) {
            dropped.iter().for_each(|case| codes[case.index()] = None);
        }
        Ok(Endings(codes))
    }

    /// The units whose name fits: that of BASE, where it has the unit.
    fn named(&self, fits: impl Fn(&str) -> bool) -> Result<Mask, ViewError> {
        let mut fitting = [Vec::new(), Vec::new()];
        for (table, fitting) in self.tables.into_iter().zip(&mut fitting) {
            let n_variants = table.n_variants();
            table.each_name(&mut |case, name| {
                let row = n_variants.place(case) as usize;
                fitting.resize(fitting.len().max(row + 1), false);
                fitting[row] |= fits(name);
            })?;
        }
        let has = |side: usize, row: u32| fitting[side].get(row as usize) == Some(&true);
        Ok(self.of(|it| it.row(0).map_or_else(|| has(1, it.rows[1]), |row| has(0, row))))
    }

    fn group(&self, term: &WrittenTerm) -> Result<Mask, FindError> {
        let name = term.name.as_ref().expect("keys with names have one");
        let paths: Vec<FieldPath> = self.tables[0].group_by();
        let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
        let Some(path) = paths.iter().find(|it| it.to_string() == name.text) else {
            let near = nearest(&name.text, names.iter().map(String::as_str)).map(quoted_name);
            let message = match names.is_empty() {
                true => "the suite of BASE has no `group_by`".to_owned(),
                false => format!("the suite of BASE groups by {}", listed_all(names.iter().map(String::as_str))),
            };
            return Err(self.reading.problem(name, message).meant(near).into());
        };
        let unread = || self.reading.problem(name, format!("`{path}` of some rows can no longer be read"));
        let base = self.tables[0].values(path)?.ok_or_else(unread)?;
        let new = self.tables[1].values(path)?.ok_or_else(unread)?;
        let all: Vec<String> = base.texts().iter().chain(new.texts()).cloned().collect();
        let values = self.reading.known(term, "value", &all)?;
        let fits = |unit: &PairedUnit| {
            let found = unit.row(0).map_or_else(|| new.get(unit.rows[1].into()), |row| base.get(row.into()));
            found.is_some_and(|it| values.iter().any(|value| value == it))
        };
        Ok(self.of(fits))
    }

    fn variant(
        &self,
        term: &WrittenTerm,
        what: &str,
        of: impl Fn(&Group) -> Option<&String>,
    ) -> Result<Mask, QueryProblem> {
        let groups = &self.units.groups;
        let names: Vec<String> = groups.iter().filter_map(|it| of(it).cloned()).collect();
        if names.is_empty() {
            let at = term.key.as_ref().expect("the term has a key");
            return Err(self.reading.problem(at, format!("the runs are not paired by {what}")));
        }
        let known = self.reading.known(term, what, &names)?;
        let is_meant: Vec<bool> = groups.iter().map(|it| of(it).is_some_and(|it| known.contains(it))).collect();
        Ok(self.of(|it| is_meant[it.group as usize]))
    }
}

/// What of a task may have moved.
enum Moved {
    Scores([Vec<Option<f64>>; 2]),
    Rates(Endings),
}

impl Moved {
    fn by(&self, meaning: &Meaning<'_>, unit: &PairedUnit) -> Option<f64> {
        let [was, now] = match self {
            Moved::Scores(scores) => [0, 1].map(|side| {
                let cases = meaning.units.cases(unit, meaning.tables[side], side)?;
                mean_score(&scores[side], cases)
            }),
            Moved::Rates(endings) => endings.of(meaning, unit).map(|it| it.rate()),
        };
        Some(now? - was?)
    }
}

/// How a task ended in all cases of both sides.
struct Endings([Vec<Option<jurat_store::run::Code>>; 2]);

impl Endings {
    fn of(&self, meaning: &Meaning<'_>, unit: &PairedUnit) -> [Repetitions; 2] {
        let group = &meaning.units.groups[unit.group as usize];
        [(0, &group.base), (1, &group.new)].map(|(side, variants)| {
            let column = Column::new(&self.0[side], meaning.tables[side]);
            unit.row(side).map_or_else(Repetitions::default, |row| column.unit(row, variants))
        })
    }
}
