//! Every address of the viewer. Addresses are read and printed here alone, and every link is a printed [`Route`], so that no link is dead.
//!
//! A parameter that has its default is left out. Unknown parameters are ignored, as they are in pages everywhere; a value that cannot be meant is reported
//! with what would do.

use std::fmt;

use jurat_engine::view::query::Sort;

use crate::percent::{self, JSON};

/// A route, and whether its page or its data is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    pub route: Route,
    pub form: Form,
}

/// What is sent: a page for people, or its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Html,
    Json,
}

/// What can be asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    Runs(Runs),
    Run {
        /// The id of the run, the beginning of one, or `latest`.
        run: String,
        page: RunPage,
    },
    Compare(Compare),
    CompareCase(CompareCase),
    /// Server-sent events about all runs.
    Events,
    /// Where labels are sent to.
    Labels,
    /// A file of ours, by its name with the hash of its content.
    Asset(String),
}

/// The list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runs {
    /// Only runs of this suite.
    pub suite: Option<String>,
    /// Only runs whose id or suite has this text.
    pub q: String,
    /// How many newer ones are left out.
    pub from: u64,
}

/// A page of one run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunPage {
    Overview,
    Cases(Cases),
    /// The cases that a query finds, for other programs.
    Table(Table),
    Case(Case),
    /// A whole value as plain text.
    Text(Text),
    Graph,
    Slices(Slices),
    Cost,
    Flaky {
        task: Option<String>,
    },
    Label(Label),
    /// A file that an agent left.
    Output(Output),
    /// Server-sent events about this run.
    Events,
}

/// A file that an agent left: its key outputs, and behind them its logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    pub id: String,
    pub variant: VariantName,
    /// From 0.
    pub ix: u32,
}

/// The table of cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Cases {
    /// The query, as it was written.
    pub q: String,
    pub sort: Sort,
    pub descending: bool,
    /// How many rows before these are left out.
    pub from: u64,
    /// How many rows a page has.
    pub n: u32,
    /// Which columns are shown; empty for the default.
    pub cols: Vec<String>,
    /// Where a search goes on that was not finished: the first case that it has not looked at.
    pub scan: u64,
}

/// Cases as a table for other programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub kind: TableKind,
    /// The query, as it was written.
    pub q: String,
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    Csv,
    JsonLines,
}

impl TableKind {
    pub const ALL: [TableKind; 2] = [TableKind::Csv, TableKind::JsonLines];

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            TableKind::Csv => "csv",
            TableKind::JsonLines => "jsonl",
        }
    }
}

/// How many rows a page of cases has, and what may be asked for.
pub const ROWS: u32 = 100;
const FEWEST_ROWS: u32 = 25;
const MOST_ROWS: u32 = 500;

impl Default for Cases {
    fn default() -> Cases {
        let (q, cols) = (String::new(), Vec::new());
        Cases { q, sort: Sort::Input, descending: false, from: 0, n: ROWS, cols, scan: 0 }
    }
}

/// Which of the cases of a row is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariantName {
    pub prompt: Option<String>,
    pub subject: Option<String>,
    /// From 1.
    pub replicate: Option<u32>,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Case {
    pub id: String,
    pub variant: VariantName,
    /// The task that is explained; default: the first that did not pass.
    pub task: Option<String>,
    /// The turn of a scenario that is looked at, from 1.
    pub turn: Option<u32>,
    /// The first event of an agent that is shown, from 0.
    pub from: u64,
    /// Only events of this kind, or of this tool.
    pub only: Option<String>,
    pub look: Look,
    /// The query that led here, for its neighbours.
    pub q: String,
    pub sort: Sort,
    pub descending: bool,
}

/// How parts of a case are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    pub evidence: EvidenceForm,
    /// Whether changed files are shown side by side, not in line.
    pub is_side_by_side: bool,
    /// The first request of an agent to its model that is shown, from 0.
    pub asked: u64,
}

/// What the evidence of a case is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EvidenceForm {
    #[default]
    Tree,
    Json,
    Text,
    Markdown,
}

impl EvidenceForm {
    pub const ALL: [EvidenceForm; 4] =
        [EvidenceForm::Tree, EvidenceForm::Json, EvidenceForm::Text, EvidenceForm::Markdown];

    fn name(self) -> &'static str {
        match self {
            EvidenceForm::Tree => "tree",
            EvidenceForm::Json => "json",
            EvidenceForm::Text => "text",
            EvidenceForm::Markdown => "markdown",
        }
    }

    /// As people call it.
    pub fn word(self) -> &'static str {
        match self {
            EvidenceForm::Json => "JSON",
            EvidenceForm::Markdown => "Markdown",
            EvidenceForm::Tree | EvidenceForm::Text => self.name(),
        }
    }
}

/// A whole value of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pub id: String,
    pub variant: VariantName,
    /// Which value, as pages name it in their links.
    pub part: String,
}

/// Pass rates by one or two paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slices {
    pub by: Vec<String>,
    /// Leaves out slices with fewer judged results.
    pub least: u64,
}

/// The queue of cases to label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub task: Option<String>,
    pub n: u32,
    pub seed: u64,
    /// Whether what the judge said is hidden until a label is saved.
    pub blind: bool,
    /// The place of the case that is shown, from 0; default: the first without a label.
    pub at: Option<u32>,
    /// The place of the case that was labelled last: what the judge said of it is shown.
    pub after: Option<u32>,
}

impl Default for Label {
    fn default() -> Label {
        Label { task: None, n: 50, seed: 1, blind: false, at: None, after: None }
    }
}

/// Runs side by side. A side is a run, or `RUN@subject=…,prompt=…`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compare {
    pub base: String,
    pub new: Vec<String>,
    pub q: String,
    pub from: u64,
}

/// One case of several runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompareCase {
    pub id: String,
    pub base: String,
    pub new: Vec<String>,
}

/// Why there is no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("there is no page at this address")]
    Unknown,
    #[error("`{parameter}` cannot be `{value}`: it takes {accepted}")]
    Value { parameter: &'static str, value: String, accepted: String },
}

impl Route {
    /// The overview of a run.
    pub fn overview(run: &str) -> Route {
        Route::Run { run: run.to_owned(), page: RunPage::Overview }
    }

    /// The cases of a run that a query finds.
    pub fn cases(run: &str, q: impl Into<String>) -> Route {
        let page = RunPage::Cases(Cases { q: q.into(), ..Cases::default() });
        Route::Run { run: run.to_owned(), page }
    }

    /// The address of its data.
    pub fn json(self) -> Address {
        Address { route: self, form: Form::Json }
    }
}

impl Address {
    /// Reads a path and its parameters, as they stand in a request.
    pub fn parse(path: &str, query: Option<&str>) -> Result<Address, BadAddress> {
        let (path, form) = match path.strip_suffix(JSON) {
            Some(path) => (path, Form::Json),
            None => (path, Form::Html),
        };
        let segments: Vec<&str> = path.strip_prefix('/').ok_or(BadAddress::Unknown)?.split('/').collect();
        let given = Parameters::parse(query.unwrap_or_default())?;
        let route = match segments.as_slice() {
            [""] => {
                Route::Runs(Runs { suite: given.text("suite"), q: given.or_empty("q"), from: given.number("from", 0)? })
            }
            ["runs", run, rest @ ..] => Route::Run { run: text(run)?, page: run_page(rest, &given)? },
            ["compare"] => {
                // The list of runs sends those that were selected. Ids begin with the time, and the oldest is the base.
                let mut selected = given.all("run");
                selected.sort_unstable();
                let mut sides = given.text("base").into_iter().chain(selected).chain(given.all("new"));
                let base = sides.next().unwrap_or_default();
                Route::Compare(Compare {
                    base,
                    new: sides.collect(),
                    q: given.or_empty("q"),
                    from: given.number("from", 0)?,
                })
            }
            ["compare", "cases", id] => {
                Route::CompareCase(CompareCase { id: text(id)?, base: given.or_empty("base"), new: given.all("new") })
            }
            ["events"] => Route::Events,
            ["labels"] => Route::Labels,
            // Names of assets end as they like.
            ["assets", name] => {
                let ending = if form == Form::Json { JSON } else { "" };
                return Ok(Address { route: Route::Asset(format!("{name}{ending}")), form: Form::Html });
            }
            _ => return Err(BadAddress::Unknown),
        };
        Ok(Address { route, form })
    }
}

fn run_page(segments: &[&str], given: &Parameters) -> Result<RunPage, BadAddress> {
    Ok(match segments {
        [] => RunPage::Overview,
        ["cases"] => RunPage::Cases(Cases {
            q: given.or_empty("q"),
            sort: given.sort()?,
            descending: given.direction()?,
            from: given.number("from", 0)?,
            n: given.within("n", ROWS, FEWEST_ROWS..=MOST_ROWS)?,
            cols: given.list("cols"),
            scan: given.number("scan", 0)?,
        }),
        ["cases.csv"] => RunPage::Table(Table { kind: TableKind::Csv, q: given.or_empty("q") }),
        ["cases.jsonl"] => RunPage::Table(Table { kind: TableKind::JsonLines, q: given.or_empty("q") }),
        ["cases", id] => RunPage::Case(Case {
            id: text(id)?,
            variant: given.variant()?,
            task: given.text("task"),
            turn: given.optional("turn")?,
            from: given.number("from", 0)?,
            only: given.text("only"),
            look: given.look()?,
            q: given.or_empty("q"),
            sort: given.sort()?,
            descending: given.direction()?,
        }),
        ["cases", id, "text"] => {
            RunPage::Text(Text { id: text(id)?, variant: given.variant()?, part: given.or_empty("part") })
        }
        ["cases", id, "output"] => {
            let ix = given.place("ix")?.unwrap_or_default();
            RunPage::Output(Output { id: text(id)?, variant: given.variant()?, ix })
        }
        ["graph"] => RunPage::Graph,
        ["slices"] => RunPage::Slices(Slices { by: given.all("by"), least: given.number("least", 0)? }),
        ["cost"] => RunPage::Cost,
        ["flaky"] => RunPage::Flaky { task: given.text("task") },
        ["label"] => {
            let default = Label::default();
            RunPage::Label(Label {
                task: given.text("task"),
                n: given.within("n", default.n, 1..=10_000)?,
                seed: given.number("seed", default.seed)?,
                blind: given.flag("blind")?,
                at: given.place("at")?,
                after: given.place("after")?,
            })
        }
        ["events"] => RunPage::Events,
        _ => return Err(BadAddress::Unknown),
    })
}

fn text(segment: &str) -> Result<String, BadAddress> {
    percent::of_segment(segment).ok_or(BadAddress::Unknown)
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, given) = self.parts();
        write!(f, "{path}{given}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, given) = self.route.parts();
        let ending = if self.form == Form::Json { JSON } else { "" };
        write!(f, "{path}{ending}{given}")
    }
}

impl Route {
    fn parts(&self) -> (String, Printed) {
        let mut given = Printed::default();
        let path = match self {
            Route::Runs(Runs { suite, q, from }) => {
                given.optional("suite", suite.as_deref());
                given.unless_empty("q", q);
                given.unless("from", *from, 0);
                "/".to_owned()
            }
            Route::Run { run, page } => format!("/runs/{}{}", percent::segment(run), page.path(&mut given)),
            Route::Compare(Compare { base, new, q, from }) => {
                given.sides(base, new);
                given.unless_empty("q", q);
                given.unless("from", *from, 0);
                "/compare".to_owned()
            }
            Route::CompareCase(CompareCase { id, base, new }) => {
                given.sides(base, new);
                format!("/compare/cases/{}", percent::segment(id))
            }
            Route::Events => "/events".to_owned(),
            Route::Labels => "/labels".to_owned(),
            Route::Asset(name) => format!("/assets/{name}"),
        };
        (path, given)
    }
}

impl RunPage {
    /// The path below that of the run.
    fn path(&self, given: &mut Printed) -> String {
        match self {
            RunPage::Overview => String::new(),
            RunPage::Cases(Cases { q, sort, descending, from, n, cols, scan }) => {
                given.unless_empty("q", q);
                given.order(sort, *descending);
                given.unless("from", *from, 0);
                given.unless("n", u64::from(*n), u64::from(ROWS));
                given.list("cols", cols);
                given.unless("scan", *scan, 0);
                "/cases".to_owned()
            }
            RunPage::Table(Table { kind, q }) => {
                given.unless_empty("q", q);
                format!("/cases.{}", kind.ending())
            }
            RunPage::Case(case) => {
                given.variant(&case.variant);
                given.optional("task", case.task.as_deref());
                given.optional("turn", case.turn.map(|it| it.to_string()).as_deref());
                given.unless("from", case.from, 0);
                given.optional("only", case.only.as_deref());
                given.look(case.look);
                given.unless_empty("q", &case.q);
                given.order(&case.sort, case.descending);
                format!("/cases/{}", percent::segment(&case.id))
            }
            RunPage::Text(Text { id, variant, part }) => {
                given.variant(variant);
                given.unless_empty("part", part);
                format!("/cases/{}/text", percent::segment(id))
            }
            RunPage::Output(Output { id, variant, ix }) => {
                given.variant(variant);
                given.unless("ix", u64::from(*ix), 0);
                format!("/cases/{}/output", percent::segment(id))
            }
            RunPage::Graph => "/graph".to_owned(),
            RunPage::Slices(Slices { by, least }) => {
                by.iter().for_each(|it| given.add("by", it));
                given.unless("least", *least, 0);
                "/slices".to_owned()
            }
            RunPage::Cost => "/cost".to_owned(),
            RunPage::Flaky { task } => {
                given.optional("task", task.as_deref());
                "/flaky".to_owned()
            }
            RunPage::Label(Label { task, n, seed, blind, at, after }) => {
                let default = Label::default();
                given.optional("task", task.as_deref());
                given.unless("n", u64::from(*n), u64::from(default.n));
                given.unless("seed", *seed, default.seed);
                given.unless("blind", u64::from(*blind), 0);
                given.optional("at", at.map(|it| it.to_string()).as_deref());
                given.optional("after", after.map(|it| it.to_string()).as_deref());
                "/label".to_owned()
            }
            RunPage::Events => "/events".to_owned(),
        }
    }
}

/// The parameters of an address, printed.
#[derive(Debug, Default)]
struct Printed(String);

impl Printed {
    fn add(&mut self, name: &str, value: &str) {
        let mark = if self.0.is_empty() { '?' } else { '&' };
        self.0 += &format!("{mark}{name}={}", percent::parameter(value));
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn unless_empty(&mut self, name: &str, value: &str) {
        self.optional(name, Some(value).filter(|it| !it.is_empty()));
    }

    fn unless(&mut self, name: &str, value: u64, default: u64) {
        if value != default {
            self.add(name, &value.to_string());
        }
    }

    fn order(&mut self, sort: &Sort, descending: bool) {
        if *sort != Sort::Input {
            self.add("sort", &sort.to_string());
        }
        if descending {
            self.add("dir", "desc");
        }
    }

    fn look(&mut self, look: Look) {
        let Look { evidence, is_side_by_side, asked } = look;
        self.optional("evidence", (evidence != EvidenceForm::default()).then(|| evidence.name()));
        self.optional("diff", is_side_by_side.then_some("sides"));
        self.unless("asked", asked, 0);
    }

    fn variant(&mut self, variant: &VariantName) {
        self.optional("prompt", variant.prompt.as_deref());
        self.optional("subject", variant.subject.as_deref());
        self.optional("replicate", variant.replicate.map(|it| it.to_string()).as_deref());
    }

    fn sides(&mut self, base: &str, new: &[String]) {
        self.unless_empty("base", base);
        new.iter().for_each(|it| self.add("new", it));
    }

    /// Items with commas between them; a comma of an item has a backslash before it.
    fn list(&mut self, name: &str, items: &[String]) {
        let items: Vec<String> = items.iter().map(|it| it.replace('\\', "\\\\").replace(',', "\\,")).collect();
        if !items.is_empty() {
            self.add(name, &items.join(","));
        }
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The parameters of an address, read. Of a parameter that is there several times the first counts, where one is meant.
#[derive(Debug)]
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn parse(query: &str) -> Result<Parameters, BadAddress> {
        let pairs = query.split('&').filter(|it| !it.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent::of_parameter(name)?, percent::of_parameter(value)?))
        });
        pairs.collect::<Option<Vec<_>>>().map(Parameters).ok_or(BadAddress::Unknown)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// Forms send fields that were left empty.
    fn text(&self, name: &str) -> Option<String> {
        self.get(name).filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// A place from 0.
    fn place(&self, name: &'static str) -> Result<Option<u32>, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let accepted = || "a number from 0".to_owned();
        value.parse().map(Some).map_err(|_| BadAddress::Value { parameter: name, value, accepted: accepted() })
    }

    fn or_empty(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    fn all(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(it, value)| it == name && !value.is_empty());
        values.map(|(_, value)| value.clone()).collect()
    }

    fn list(&self, name: &str) -> Vec<String> {
        let (mut items, mut item, mut is_escaped) = (Vec::new(), String::new(), false);
        // Forms send a parameter for each item.
        for letter in self.all(name).join(",").chars() {
            match letter {
                '\\' if !is_escaped => is_escaped = true,
                ',' if !is_escaped => items.push(std::mem::take(&mut item)),
                other => {
                    is_escaped = false;
                    item.push(other);
                }
            }
        }
        items.push(item);
        items.retain(|it| !it.is_empty());
        items
    }

    fn number(&self, name: &'static str, default: u64) -> Result<u64, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(default) };
        value.parse().map_err(|_| bad(name, value, "a whole number"))
    }

    fn within(
        &self,
        name: &'static str,
        default: u32,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u32, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(default) };
        let accepted = || format!("a number from {} to {}", range.start(), range.end());
        value.parse().ok().filter(|it| range.contains(it)).ok_or_else(|| bad(name, value, accepted()))
    }

    /// A number from 1, where one is given.
    fn optional(&self, name: &'static str) -> Result<Option<u32>, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(None) };
        value.parse().ok().filter(|it| *it > 0).map(Some).ok_or_else(|| bad(name, value, "a number from 1"))
    }

    fn flag(&self, name: &'static str) -> Result<bool, BadAddress> {
        match self.get(name).unwrap_or_default() {
            "" | "0" => Ok(false),
            "1" => Ok(true),
            other => Err(bad(name, other.to_owned(), "0 or 1")),
        }
    }

    fn look(&self) -> Result<Look, BadAddress> {
        let wanted = self.text("evidence").unwrap_or_else(|| EvidenceForm::default().name().to_owned());
        let evidence = EvidenceForm::ALL.into_iter().find(|it| it.name() == wanted);
        let evidence = evidence.ok_or_else(|| bad("evidence", wanted, "`tree`, `json`, `text` or `markdown`"))?;
        let is_side_by_side = match self.get("diff").unwrap_or_default() {
            "" | "inline" => false,
            "sides" => true,
            other => return Err(bad("diff", other.to_owned(), "`inline` or `sides`")),
        };
        Ok(Look { evidence, is_side_by_side, asked: self.number("asked", 0)? })
    }

    fn sort(&self) -> Result<Sort, BadAddress> {
        let value = self.text("sort").unwrap_or_else(|| Sort::Input.to_string());
        Sort::parse(&value).ok_or_else(|| bad("sort", value, Sort::ACCEPTED))
    }

    fn direction(&self) -> Result<bool, BadAddress> {
        match self.get("dir").unwrap_or_default() {
            "" | "asc" => Ok(false),
            "desc" => Ok(true),
            other => Err(bad("dir", other.to_owned(), "`asc` or `desc`")),
        }
    }

    fn variant(&self) -> Result<VariantName, BadAddress> {
        let replicate = self.optional("replicate")?;
        Ok(VariantName { prompt: self.text("prompt"), subject: self.text("subject"), replicate })
    }
}

fn bad(parameter: &'static str, value: String, accepted: impl Into<String>) -> BadAddress {
    BadAddress::Value { parameter, value, accepted: accepted.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_text() -> impl Strategy<Value = String> {
        "(a|~|\\.|/|%|é|,|\\\\|&|=|\\+| |\\.json|\\PC){1,6}"
    }

    fn maybe_text() -> impl Strategy<Value = Option<String>> {
        proptest::option::of(any_text())
    }

    fn any_sort() -> impl Strategy<Value = Sort> {
        let plain = [Sort::Input, Sort::Id, Sort::Verdict, Sort::Took, Sort::Cost, Sort::Tokens, Sort::Latency];
        prop_oneof![
            proptest::sample::select(plain.to_vec()),
            any_text().prop_map(Sort::Score),
            any_text().prop_map(Sort::Label)
        ]
    }

    fn any_variant() -> impl Strategy<Value = VariantName> {
        (maybe_text(), maybe_text(), proptest::option::of(1_u32..9))
            .prop_map(|(prompt, subject, replicate)| VariantName { prompt, subject, replicate })
    }

    fn texts() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec(any_text(), 0..3)
    }

    fn maybe_place() -> impl Strategy<Value = Option<u32>> {
        proptest::option::of(0_u32..99)
    }

    fn any_look() -> impl Strategy<Value = Look> {
        (0_usize..4, any::<bool>(), 0_u64..99).prop_map(|(evidence, is_side_by_side, asked)| Look {
            evidence: EvidenceForm::ALL[evidence],
            is_side_by_side,
            asked,
        })
    }

    fn any_page() -> impl Strategy<Value = RunPage> {
        let order = || (any_sort(), any::<bool>());
        let q = || "|(a|é|:|=| |\"|\\PC){1,6}";
        prop_oneof![
            Just(RunPage::Overview),
            (q(), order(), any::<u64>(), 25_u32..=500, texts(), any::<u64>()).prop_map(
                |(q, (sort, descending), from, n, cols, scan)| {
                    RunPage::Cases(Cases { q, sort, descending, from, n, cols, scan })
                }
            ),
            (
                any_text(),
                any_variant(),
                maybe_text(),
                proptest::option::of(1_u32..99),
                (0_u64..99, maybe_text(), any_look()),
                q(),
                order()
            )
                .prop_map(|(id, variant, task, turn, (from, only, look), q, (sort, descending))| {
                    RunPage::Case(Case { id, variant, task, turn, from, only, look, q, sort, descending })
                }),
            (any_text(), any_variant(), q()).prop_map(|(id, variant, part)| RunPage::Text(Text { id, variant, part })),
            (q(), any::<bool>()).prop_map(|(q, is_csv)| {
                let kind = if is_csv { TableKind::Csv } else { TableKind::JsonLines };
                RunPage::Table(Table { kind, q })
            }),
            Just(RunPage::Graph),
            (texts(), 0_u64..99).prop_map(|(by, least)| RunPage::Slices(Slices { by, least })),
            Just(RunPage::Cost),
            maybe_text().prop_map(|task| RunPage::Flaky { task }),
            (maybe_text(), 1_u32..99, any::<u64>(), any::<bool>(), maybe_place(), maybe_place()).prop_map(
                |(task, n, seed, blind, at, after)| RunPage::Label(Label { task, n, seed, blind, at, after })
            ),
            (any_text(), any_variant(), 0_u32..9).prop_map(|(id, variant, ix)| RunPage::Output(Output {
                id,
                variant,
                ix
            })),
            Just(RunPage::Events),
        ]
    }

    fn any_route() -> impl Strategy<Value = Route> {
        let q = || "|(a|é|:|=| |\"|\\PC){1,6}";
        prop_oneof![
            (maybe_text(), q(), 0_u64..99).prop_map(|(suite, q, from)| Route::Runs(Runs { suite, q, from })),
            (any_text(), any_page()).prop_map(|(run, page)| Route::Run { run, page }),
            (any_text(), texts(), q(), 0_u64..99).prop_map(|(base, new, q, from)| Route::Compare(Compare {
                base,
                new,
                q,
                from
            })),
            (any_text(), any_text(), texts()).prop_map(|(id, base, new)| Route::CompareCase(CompareCase {
                id,
                base,
                new
            })),
            Just(Route::Events),
            Just(Route::Labels),
        ]
    }

    proptest! {
        #[test]
        fn a_printed_address_reads_back_the_same(route in any_route(), is_json in any::<bool>()) {
            let form = if is_json { Form::Json } else { Form::Html };
            let address = Address { route, form };
            let printed = address.to_string();
            prop_assert!(printed.bytes().all(|it| it.is_ascii_graphic()), "{}", printed);
            let (path, query) = printed.split_once('?').map_or((printed.as_str(), None), |(path, query)| (path, Some(query)));
            prop_assert_eq!(Address::parse(path, query), Ok(address), "{}", printed);
        }
    }

    #[track_caller]
    fn read(address: &str, expected: &str) {
        let (path, query) = address.split_once('?').map_or((address, None), |(path, query)| (path, Some(query)));
        let read = Address::parse(path, query).map_or_else(|error| error.to_string(), |it| it.to_string());
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        read("/", "/");
        read("/.json", "/.json");
        read("/runs/latest/cases.json?q=verdict%3Afailed&n=100", "/runs/latest/cases.json?q=verdict:failed");
        read("/runs/x/cases?q=a+b&whatever=1", "/runs/x/cases?q=a%20b");
        read("/runs/x/cases?n=3", "`n` cannot be `3`: it takes a number from 25 to 500");
        read("/runs/x/cases?dir=up", "`dir` cannot be `up`: it takes `asc` or `desc`");
        read(
            "/runs/x/cases?sort=colour",
            "`sort` cannot be `colour`: it takes `input`, `id`, `verdict`, `took`, `cost`, `tokens`, `latency`, `score:TASK` or `label:TASK`",
        );
        read("/runs/x/cases/a?turn=0", "`turn` cannot be `0`: it takes a number from 1");
        read("/runs/x/cases/a?evidence=json&diff=sides&asked=25", "/runs/x/cases/a?evidence=json&diff=sides&asked=25");
        read("/runs/x/cases/a?evidence=tree&diff=inline", "/runs/x/cases/a");
        read(
            "/runs/x/cases/a?evidence=xml",
            "`evidence` cannot be `xml`: it takes `tree`, `json`, `text` or `markdown`",
        );
        read("/runs/x/cases/a?diff=both", "`diff` cannot be `both`: it takes `inline` or `sides`");
        read("/compare?run=2026-b&run=2026-a", "/compare?base=2026-a&new=2026-b");
        read("/elsewhere", "there is no page at this address");
        read("/runs", "there is no page at this address");
        read("/runs/x/cases/%ff", "there is no page at this address");
    }
}
