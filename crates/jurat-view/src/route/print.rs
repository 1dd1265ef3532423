//! Addresses, printed. A parameter that has its default is left out.

use std::fmt;

use jurat_engine::view::query::Sort;

use super::{
    Address, Cases, Compare, CompareCase, EvidenceForm, Flaky, Form, Label, Look, Output, ROWS, Route, RunPage, Runs,
    Slices, Table, Text, VariantName,
};
use crate::percent::{self, JSON};

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
            Route::CompareCase(CompareCase { id, variant, base, new }) => {
                given.sides(base, new);
                given.variant(variant);
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
            RunPage::Slices(Slices { by, least, from }) => {
                given.unless("from", *from, 0);
                by.iter().for_each(|it| given.add("by", it));
                given.unless("least", *least, 0);
                "/slices".to_owned()
            }
            RunPage::Cost => "/cost".to_owned(),
            RunPage::Flaky(Flaky { task, subject }) => {
                given.optional("task", task.as_deref());
                given.optional("subject", subject.as_deref());
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
