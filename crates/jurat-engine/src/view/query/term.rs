//! What a term means in one run.

use jurat_core::report::scenario::ScenarioGraph;
use jurat_format::problem::{listed_all, nearest};
use jurat_format::value::FieldPath;
use jurat_store::run::{CaseTexts, Code, Column};

use super::columns::{ColumnCache, Columns};
use super::mask::Mask;
use super::operand::{Bound, Glob, Needle, Unit, needles};
use super::reading::Reading;
use super::syntax::{Operator, ROW, Spanned, WrittenTerm};
use super::visited::{Part, Visited, edge_names};
use super::{QueryProblem, Spent};
use crate::view::{PersonLabel, RunView, ViewError};

/// What a case is tested for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Column(ColumnTest),
    Row(RowTest),
}

/// A test that columns decide.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnTest {
    Codes {
        column: Column,
        codes: Vec<Code>,
    },
    Label {
        column: Column,
        labels: Vec<String>,
    },
    Score {
        column: Column,
        bound: Bound,
    },
    Group {
        path: String,
        values: Vec<String>,
    },
    /// By the number of the variant.
    Variant(Vec<bool>),
    Id(Vec<Glob>),
    Took(Bound),
    Spent {
        figure: Figure,
        bound: Bound,
    },
    Reused(bool),
    Flaky(bool),
    /// Words for what people said.
    Human(Vec<String>),
}

/// A test that looks into the row, the answer or the messages of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowTest {
    Why(Vec<Needle>),
    Text(Vec<Needle>),
    Path { path: FieldPath, test: PathTest },
    Visited(Visited),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PathTest {
    Text(Vec<Glob>),
    Number(Bound),
}

/// What answers took, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Dollars,
    Tokens,
    Latency,
    Requests,
}

/// Keys, each with what may stand behind it.
const KEYS: [(&str, &str); 20] = [
    ("verdict", "a verdict"),
    ("task", "a task and a verdict"),
    ("label", "a task and a label"),
    ("score", "a task and a number"),
    ("group", "a path of `group_by` and a value"),
    ("node", "a scenario and a node"),
    ("edge", "a scenario and an edge, such as `ask>check`"),
    ("subject", "a subject"),
    ("prompt", "a prompt"),
    ("replicate", "the number of a repetition"),
    ("id", "an id, with `*` at either end"),
    ("took", "a time such as `2s`"),
    ("cost", "dollars"),
    ("tokens", "a number"),
    ("latency", "a time such as `2s`"),
    ("requests", "a number"),
    ("reused", "`yes` or `no`"),
    ("flaky", "`yes` or `no`"),
    ("human", "a label of a person, `none`, `unsure` or `disagrees`"),
    ("why", "a text of messages"),
];

/// Keys that are for other pages.
const ELSEWHERE: [(&str, &str); 2] = [
    ("change", "`change:` is about two runs: it is for comparisons"),
    ("delta", "`delta:` is about two runs: it is for comparisons"),
];

/// Verdicts of cases and of tasks, and the codes that each word stands for.
const OF_CASES: [(&str, &[Code]); 6] = [
    ("passed", &[Code::Passed]),
    ("failed", &[Code::Failed]),
    ("measured", &[Code::Measured]),
    ("error", &[Code::Error]),
    ("not_run", &[Code::NotRun]),
    ("not_judged", &[Code::NotJudged]),
];
const OF_TASKS: [(&str, &[Code]); 6] = [
    ("passed", &[Code::Passed]),
    ("failed", &[Code::Failed]),
    ("measured", &[Code::Measured]),
    ("skipped", &[Code::SkippedByGate, Code::SkippedByError]),
    ("error", &[Code::Error]),
    ("not_run", &[Code::NotRun]),
];

/// Gives a term its meaning.
pub(super) struct Meaning<'m> {
    pub(super) reading: Reading<'m>,
    pub(super) view: &'m RunView,
    pub(super) columns: &'m Columns<'m>,
}

/// The cases for which a term holds, before `!=` turns it.
#[derive(Debug)]
pub(crate) struct TermCases {
    pub(crate) mask: Mask,
    /// Whether the term means the other cases.
    pub(crate) is_turned: bool,
}

/// The cases of a run that a term of a query means, for terms that columns decide.
pub(crate) fn cases_of_term(
    view: &RunView,
    query: &str,
    term: &WrittenTerm,
) -> Result<Result<TermCases, QueryProblem>, ViewError> {
    let cache = ColumnCache::default();
    let meaning = Meaning { reading: Reading { query }, view, columns: &cache.of(view)? };
    Ok(match meaning.test(term)? {
        Err(problem) => Err(problem),
        Ok(Test::Row(_)) => {
            Err(QueryProblem::new(query, term.at.clone(), "this looks into each case: it is for the cases of one run"))
        }
        Ok(Test::Column(test)) => Ok(TermCases {
            // A number knows `!=` itself: what has none is neither equal nor unequal.
            is_turned: term.operator == Operator::IsNot && !test.has_bound(),
            mask: test.mask(view, meaning.columns)?,
        }),
    })
}

impl Meaning<'_> {
    pub(super) fn test(&self, term: &WrittenTerm) -> Result<Result<Test, QueryProblem>, ViewError> {
        let Some(key) = &term.key else {
            return Ok(Ok(Test::Row(RowTest::Text(needles(&term.values)))));
        };
        if let Some(path) = key.text.strip_prefix(ROW) {
            return Ok(self.path(key, path, term));
        }
        Ok(match key.text.as_str() {
            "verdict" => self.verdict(term, Column::CASE, &OF_CASES),
            "task" => self.task(term).and_then(|column| self.verdict(term, column, &OF_TASKS)),
            "label" => match self.task(term) {
                Ok(column) => self.label(term, column)?,
                Err(problem) => Err(problem),
            },
            "score" => self.task(term).and_then(|column| {
                Ok(Test::Column(ColumnTest::Score { column, bound: self.reading.bound(term, Unit::Plain)? }))
            }),
            "group" => self.group(term)?,
            "node" => self.visited(term, "node", |it| it.nodes.iter().map(|it| it.id.clone()).collect()),
            "edge" => self.visited(term, "edge", edge_names),
            "subject" => self.variant(term, "subject", |it| it.subject.clone()),
            "prompt" => self.variant(term, "prompt", |it| it.prompt.clone()),
            "replicate" => self.variant(term, "repetition", |it| (it.replicate + 1).to_string()),
            "id" => self
                .reading
                .is_or_not(term)
                .map(|()| ColumnTest::Id(term.values.iter().map(|it| Glob::of(&it.text)).collect()))
                .map(Test::Column),
            "took" => self.reading.bound(term, Unit::Time).map(|it| Test::Column(ColumnTest::Took(it))),
            "cost" => self.spent(term, Figure::Dollars, Unit::Plain),
            "tokens" => self.spent(term, Figure::Tokens, Unit::Plain),
            "latency" => self.spent(term, Figure::Latency, Unit::Time),
            "requests" => self.spent(term, Figure::Requests, Unit::Plain),
            "reused" => self.flag(term).map(|it| Test::Column(ColumnTest::Reused(it))),
            "flaky" => self.flag(term).map(|it| Test::Column(ColumnTest::Flaky(it))),
            "human" => self.human(key, term),
            "why" => self.reading.is_or_not(term).map(|()| Test::Row(RowTest::Why(needles(&term.values)))),
            other => Err(self.unknown_key(key, other)),
        })
    }

    /// What people said: a label, or one of three words.
    fn human(&self, key: &Spanned, term: &WrittenTerm) -> Result<Test, QueryProblem> {
        if self.columns.people().is_none() {
            return Err(self
                .reading
                .problem(key, "`human:` is about labels of people, which are read by the viewer alone"));
        }
        self.reading.is_or_not(term)?;
        Ok(Test::Column(ColumnTest::Human(term.values.iter().map(|it| it.text.clone()).collect())))
    }

    fn unknown_key(&self, key: &Spanned, name: &str) -> QueryProblem {
        if let Some((_, words)) = ELSEWHERE.iter().find(|(it, _)| *it == name) {
            return self.reading.problem(key, *words);
        }
        let names = listed_all(KEYS.iter().map(|(it, _)| *it).chain(["row.PATH"]));
        let near = nearest(name, KEYS.iter().map(|(it, _)| *it)).map(str::to_owned);
        self.reading
            .problem(key, format!("there is no key `{name}`; there are {names}, and a text in quotes is looked for"))
            .meant(near)
    }

    fn task(&self, term: &WrittenTerm) -> Result<Column, QueryProblem> {
        let name = term.name.as_ref().expect("keys with names have one");
        let tasks = &self.view.plan().tasks;
        if let Some(ix) = tasks.iter().position(|it| it.id == name.text) {
            return Ok(Column::from(jurat_core::plan::TaskIx(ix as u32)));
        }
        let near = nearest(&name.text, tasks.iter().map(|it| it.id.as_str())).map(quoted_name);
        let names = listed_all(tasks.iter().map(|it| it.id.as_str()));
        Err(self.reading.problem(name, format!("the run has no task `{}`; it has {names}", name.text)).meant(near))
    }

    fn verdict(&self, term: &WrittenTerm, column: Column, words: &[(&str, &[Code])]) -> Result<Test, QueryProblem> {
        self.reading.is_or_not(term)?;
        let mut codes = Vec::new();
        for value in &term.values {
            match words.iter().find(|(it, _)| *it == value.text) {
                Some((_, of_word)) => codes.extend_from_slice(of_word),
                None => {
                    let names = listed_all(words.iter().map(|(it, _)| *it));
                    let near = nearest(&value.text, words.iter().map(|(it, _)| *it)).map(str::to_owned);
                    let message = format!("`{}` is no verdict here; there are {names}", value.text);
                    return Err(self.reading.problem(value, message).meant(near));
                }
            }
        }
        Ok(Test::Column(ColumnTest::Codes { column, codes }))
    }

    fn label(&self, term: &WrittenTerm, column: Column) -> Result<Result<Test, QueryProblem>, ViewError> {
        if let Err(problem) = self.reading.is_or_not(term) {
            return Ok(Err(problem));
        }
        let labels = self.columns.labels(self.view, column)?;
        let known = self.reading.known(term, "label", &labels.texts);
        Ok(known.map(|labels| Test::Column(ColumnTest::Label { column, labels })))
    }

    fn group(&self, term: &WrittenTerm) -> Result<Result<Test, QueryProblem>, ViewError> {
        let name = term.name.as_ref().expect("keys with names have one");
        let paths: Vec<String> = self.view.plan().group_by.iter().map(ToString::to_string).collect();
        if !paths.contains(&name.text) {
            let near = nearest(&name.text, paths.iter().map(String::as_str)).map(quoted_name);
            let message = match paths.is_empty() {
                true => "the suite has no `group_by`; `row.PATH=VALUE` looks into rows".to_owned(),
                false => format!("the suite groups by {}", listed_all(paths.iter().map(String::as_str))),
            };
            return Ok(Err(self.reading.problem(name, message).meant(near)));
        }
        let groups = self.columns.groups(self.view, &name.text)?;
        let Some(groups) = groups.as_ref() else {
            let message = "the run was recorded before groups were stored; `row.PATH=VALUE` looks into rows";
            return Ok(Err(self.reading.problem(name, message)));
        };
        let known = self.reading.is_or_not(term).and_then(|()| self.reading.known(term, "value", &groups.texts));
        Ok(known.map(|values| Test::Column(ColumnTest::Group { path: name.text.clone(), values })))
    }

    /// Parts of the graph of a scenario; `names` are those that it has.
    fn visited(
        &self,
        term: &WrittenTerm,
        what: &str,
        names: impl Fn(&ScenarioGraph) -> Vec<String>,
    ) -> Result<Test, QueryProblem> {
        let name = term.name.as_ref().expect("keys with names have one");
        let scenarios: Vec<String> = self.view.plan().all_scenarios().map(|it| it.scenario.name.clone()).collect();
        let Some(scenario) = self.view.plan().all_scenarios().find(|it| it.scenario.name == name.text) else {
            let near = nearest(&name.text, scenarios.iter().map(String::as_str)).map(quoted_name);
            let message = match scenarios.is_empty() {
                true => "the suite has no scenarios".to_owned(),
                false => format!("the scenarios are {}", listed_all(scenarios.iter().map(String::as_str))),
            };
            return Err(self.reading.problem(name, message).meant(near));
        };
        self.reading.is_or_not(term)?;
        let names = names(&self.view.graph(scenario));
        let part = |it: String| match what {
            "edge" => Part::Edge(names.iter().position(|name| *name == it).unwrap_or(usize::MAX)),
            _ => Part::Node(it),
        };
        let parts = self.reading.known(term, what, &names)?.into_iter().map(part).collect();
        Ok(Test::Row(RowTest::Visited(Visited { scenario: name.text.clone(), parts })))
    }

    fn variant(
        &self,
        term: &WrittenTerm,
        what: &str,
        read: impl Fn(&jurat_store::run::Variant) -> String,
    ) -> Result<Test, QueryProblem> {
        self.reading.is_or_not(term)?;
        let names: Vec<String> = self.view.head().variants.iter().map(read).collect();
        let mut distinct = names.clone();
        distinct.retain(|it| !it.is_empty());
        distinct.sort_unstable();
        distinct.dedup();
        let known = self.reading.known(term, what, &distinct)?;
        Ok(Test::Column(ColumnTest::Variant(names.iter().map(|it| known.contains(it)).collect())))
    }

    fn spent(&self, term: &WrittenTerm, figure: Figure, unit: Unit) -> Result<Test, QueryProblem> {
        Ok(Test::Column(ColumnTest::Spent { figure, bound: self.reading.bound(term, unit)? }))
    }

    fn flag(&self, term: &WrittenTerm) -> Result<bool, QueryProblem> {
        self.reading.is_or_not(term)?;
        match term.values.as_slice() {
            [it] if it.text == "yes" => Ok(true),
            [it] if it.text == "no" => Ok(false),
            [it, ..] => Err(self.reading.problem(it, "write `yes` or `no`")),
            [] => Err(QueryProblem::new(self.reading.query, term.at.clone(), "write `yes` or `no`")),
        }
    }

    fn path(&self, key: &Spanned, path: &str, term: &WrittenTerm) -> Result<Test, QueryProblem> {
        let path = FieldPath::parse(path)
            .map_err(|error| self.reading.problem(key, format!("`{path}` is no path: {error}")))?;
        let test = match term.operator {
            Operator::Is | Operator::IsNot => PathTest::Text(term.values.iter().map(|it| Glob::of(&it.text)).collect()),
            _ => PathTest::Number(self.reading.bound(term, Unit::Plain)?),
        };
        Ok(Test::Row(RowTest::Path { path, test }))
    }
}

/// The name of a task or a path as queries write it.
pub fn quoted_name(name: &str) -> String {
    super::syntax::quoted(name, |it| it.is_whitespace() || "()=<>!,".contains(it))
}

/// A value as queries write it.
pub fn quoted_value(value: &str) -> String {
    super::syntax::quoted(value, |it| it.is_whitespace() || "(),".contains(it))
}

impl ColumnTest {
    /// The cases for which it holds.
    pub(super) fn mask(&self, view: &RunView, columns: &Columns<'_>) -> Result<Mask, ViewError> {
        let n = view.reader().n_case_numbers()?;
        Ok(match self {
            ColumnTest::Codes { column, codes } => {
                let is_meant = |it: &Option<Code>| it.is_some_and(|it| codes.contains(&it));
                Mask::of(columns.codes(view, *column)?.iter().map(is_meant))
            }
            ColumnTest::Label { column, labels } => among(&*columns.labels(view, *column)?, labels, n),
            ColumnTest::Group { path, values } => match columns.groups(view, path)?.as_ref() {
                Some(groups) => among(groups, values, n),
                None => Mask::none(n),
            },
            ColumnTest::Score { column, bound } => {
                let scores = columns.scores(view, *column)?;
                if scores.is_empty() { Mask::none(n) } else { Mask::of(scores.iter().map(|it| bound.holds(*it))) }
            }
            ColumnTest::Variant(is_meant) => {
                let variants = view.head().n_variants();
                let of = |ix: usize| {
                    is_meant.get(variants.variant(jurat_core::plan::CaseIx::numbered(ix as u64))) == Some(&true)
                };
                Mask::of((0..n).map(of))
            }
            ColumnTest::Id(globs) => Mask::of(columns.ids(view)?.iter().map(|id| globs.iter().any(|it| it.fits(id)))),
            ColumnTest::Took(bound) => {
                let took = columns.took(view)?;
                let holds = |it: &u64| *it != u64::MAX && bound.holds(*it as f64);
                if took.is_empty() { Mask::none(n) } else { Mask::of(took.iter().map(holds)) }
            }
            ColumnTest::Spent { figure, bound } => {
                let spent = columns.spent(view)?;
                let holds = |it: &Spent| figure.of(it).is_some_and(|it| bound.holds(it));
                if spent.is_empty() { Mask::none(n) } else { Mask::of(spent.iter().map(holds)) }
            }
            ColumnTest::Reused(wanted) => {
                let spent = columns.spent(view)?;
                let is_reused = |it: &Spent| it.answers > 0 && (it.reused == it.answers) == *wanted;
                if spent.is_empty() { Mask::none(n) } else { Mask::of(spent.iter().map(is_reused)) }
            }
            ColumnTest::Human(words) => {
                let people = columns.people();
                let is_it = |case: usize| people.is_some_and(|it| said(it.of(case as u32), words));
                Mask::of((0..n).map(is_it))
            }
            ColumnTest::Flaky(wanted) => Mask::of(columns.flaky(view)?.iter().map(|it| it == wanted)),
        })
    }
}

/// Whether people said one of these about a case. What is of another answer does not count.
fn said(labels: &[PersonLabel], words: &[String]) -> bool {
    let current: Vec<&PersonLabel> = labels.iter().filter(|it| it.is_current).collect();
    let is = |word: &String| match word.as_str() {
        "none" => !current.iter().any(|it| it.is_given()),
        "disagrees" => current.iter().any(|it| it.agrees == Some(false)),
        word => current.iter().any(|it| it.word() == word),
    };
    words.iter().any(is)
}

impl Figure {
    /// The number of a case; `None` for one that asked nothing, and for a cost that is not known.
    pub(super) fn of(self, spent: &Spent) -> Option<f64> {
        let has_any = spent.answers > 0 || spent.requests > 0;
        match self {
            Figure::Dollars => (spent.answers > spent.unpriced).then_some(spent.nano_dollars as f64 / 1e9),
            Figure::Tokens => (spent.answers > 0).then_some(spent.tokens as f64),
            Figure::Latency => (spent.answers > 0).then_some(spent.latency().as_micros() as f64),
            Figure::Requests => has_any.then_some(f64::from(spent.requests)),
        }
    }
}

fn among(dictionary: &CaseTexts, texts: &[String], n: usize) -> Mask {
    if dictionary.numbers.is_empty() {
        return Mask::none(n);
    }
    let is_meant: Vec<bool> = dictionary.texts.iter().map(|it| texts.contains(it)).collect();
    Mask::of(dictionary.numbers.iter().map(|it| is_meant.get(*it as usize) == Some(&true)))
}

impl ColumnTest {
    /// Whether it compares a number.
    pub(super) fn has_bound(&self) -> bool {
        matches!(self, ColumnTest::Score { .. } | ColumnTest::Took(_) | ColumnTest::Spent { .. })
    }
}
