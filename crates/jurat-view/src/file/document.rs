//! The document: what reads without script first, then the data that script unpacks.

use jurat_core::plan::CaseIx;
use jurat_core::report::RunReport;
use jurat_engine::view::query::ColumnCache;
use jurat_engine::view::{RunView, ViewError};
use jurat_report::{bytes, counted, grouped};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::details::{of_case, order};
use super::links::offline;
use super::omitted::Omitted;
use super::packed::{packed, policy_hash};
use super::{FileError, FileOptions, FoundCases};
use crate::answer::cost_page;
use crate::assets;
use crate::changes::{Compared, Listed};
use crate::page::cost::{self, CostPage};
use crate::page::{compare, overview};
use crate::part::text::{line, lines, sentence};

/// How many cases with details read without script.
const WITHOUT_SCRIPT: usize = 200;
/// How many cases one piece of packed details has, and how large it may grow before it is packed: a piece is unpacked whole when one of its cases is opened.
const CHUNK: usize = 50;
const CHUNK_BYTES: usize = 1 << 20;

/// Details that are packed together.
#[derive(Default)]
struct Chunk {
    cases: Vec<u64>,
    text: String,
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.cases.len() >= CHUNK || self.text.len() >= CHUNK_BYTES
    }
}

/// A document that is being written.
pub(super) struct Document {
    head: String,
    overview: String,
    /// Details that read without script.
    shown: String,
    n_shown: usize,
    columns: String,
    /// Packed pieces of further details.
    chunks: Vec<String>,
    /// The numbers of the cases in `shown` and in each piece, as the script needs them.
    places: Vec<Vec<u64>>,
    n_details: usize,
    n_not_passed: u64,
    n_cases: u64,
    /// Which cases are in the file, where not all are.
    chosen: Option<String>,
    /// What keeps further details out, in words.
    limit: String,
    omitted: String,
}

impl Document {
    pub(super) fn new(
        view: &RunView,
        options: &FileOptions,
        comparison: Option<&(Compared, Vec<Listed>)>,
        omitted: &Omitted,
        columns: String,
    ) -> Result<Document, FileError> {
        let report = view.report()?;
        let cache = ColumnCache::default();
        let cost = if options.results_only { None } else { Some(cost_page(view, &cache.of(view)?, &view.head().id)?) };
        let content = omitted.markup(&content(&report, options, cost.as_ref(), comparison).0);
        Ok(Document {
            head: head(&omitted.text(&report.suite)),
            overview: offline(&content),
            shown: String::new(),
            n_shown: 0,
            columns,
            chunks: Vec::new(),
            places: vec![Vec::new()],
            n_details: 0,
            n_not_passed: 0,
            n_cases: options.found.as_ref().map_or(report.cases.total(), |it| it.cases.len() as u64),
            chosen: options.found.as_ref().map(|it| chosen(it, report.cases.total())),
            limit: String::new(),
            omitted: omission(omitted),
        })
    }

    pub(super) fn size(&self) -> u64 {
        let chunks: usize = self.chunks.iter().map(|it| it.len() + 80).sum();
        let places: usize = self.places.iter().map(|it| it.len() * 8).sum();
        let fixed = self.head.len() + self.overview.len() + self.columns.len() + assets::FILE_SCRIPT.len() + 2_000;
        (fixed + self.shown.len() + chunks + places) as u64
    }

    /// Adds details until there are as many as may be, and says what the limit was.
    pub(super) fn add_details(
        &mut self,
        view: &RunView,
        options: &FileOptions,
        omitted: &Omitted,
    ) -> Result<(), FileError> {
        self.limit = match self.add_until_full(view, options, omitted)? {
            true => format!(" (`--cases {}`)", options.cases),
            false => format!(" (`--max-size`: {})", bytes(options.max_bytes)),
        };
        Ok(())
    }

    /// Adds details, and returns whether there was room for all that are wanted.
    fn add_until_full(&mut self, view: &RunView, options: &FileOptions, omitted: &Omitted) -> Result<bool, FileError> {
        let (cases, n_not_passed) = order(view, options)?;
        self.n_not_passed = n_not_passed;
        let wanted = &cases[..cases.len().min(options.cases)];
        let n_plain = wanted.len().min(WITHOUT_SCRIPT).min(usize::try_from(n_not_passed).unwrap_or(usize::MAX));
        let (plain, rest) = wanted.split_at(n_plain);
        for case in plain {
            let Some(part) = part(view, *case, options, omitted)? else { continue };
            if self.size() + part.len() as u64 > options.max_bytes {
                return Ok(false);
            }
            self.shown += &part;
            self.n_shown += 1;
            self.n_details += 1;
            self.places[0].push(case.number());
        }
        let mut waiting = Chunk::default();
        for case in rest {
            waiting.cases.push(case.number());
            waiting.text += &part(view, *case, options, omitted)?.unwrap_or_default();
            if waiting.is_full() && !self.add_chunk(std::mem::take(&mut waiting), options.max_bytes) {
                return Ok(false);
            }
        }
        Ok(waiting.cases.is_empty() || self.add_chunk(waiting, options.max_bytes))
    }

    /// Adds packed details, if there is room for them.
    fn add_chunk(&mut self, chunk: Chunk, max_bytes: u64) -> bool {
        let packed = packed(&chunk.text);
        let has_room = self.size() + packed.len() as u64 <= max_bytes;
        if has_room {
            self.chunks.push(packed);
            self.n_details += chunk.cases.len();
            self.places.push(chunk.cases);
        }
        has_room
    }

    pub(super) fn finish(self) -> String {
        let places = serde_json::to_string(&self.places).unwrap_or_default();
        let rest = html! {
            @for (ix, chunk) in self.chunks.iter().enumerate() {
                script type="application/octet-stream" data-chunk=(ix + 1) { (PreEscaped(chunk)) }
            }
            script id="columns" type="application/octet-stream" { (PreEscaped(&self.columns)) }
            script id="places" type="application/json" { (PreEscaped(&places)) }
            script type="module" { (PreEscaped(assets::FILE_SCRIPT)) }
        };
        let cases = self.cases();
        let Document { head, overview, omitted, .. } = self;
        format!("{head}{overview}{}{omitted}</main>{}</body></html>\n", cases.0, rest.0)
    }

    fn cases(&self) -> Markup {
        html! {
            section id="cases" aria-labelledby="cases-title" {
                h2 id="cases-title" { "Cases" }
                @if let Some(words) = &self.chosen { p.note { (sentence(words)) } }
                div id="table" hidden {}
                p.about { (sentence(&self.extent())) }
                div id="details" { (PreEscaped(&self.shown)) }
            }
        }
    }

    /// How many details there are, and of what.
    fn extent(&self) -> String {
        let why = &self.limit;
        let n = grouped(self.n_details as u64);
        let is_all = self.n_details as u64 >= self.n_cases;
        match () {
            () if is_all => format!("Details of all {}.", counted(self.n_cases, "case")),
            () if self.n_details as u64 >= self.n_not_passed => {
                format!(
                    "Details of all {} that did not pass, and of {n} of {} in all; the rest is in the run{why}.",
                    counted(self.n_not_passed, "case"),
                    counted(self.n_cases, "case")
                )
            }
            () => format!(
                "Details of {n} of {} that did not pass; the rest is in the run{why}.",
                counted(self.n_not_passed, "case")
            ),
        }
    }
}

fn head(suite: &str) -> String {
    let style = assets::STYLES;
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        policy_hash(assets::FILE_SCRIPT),
        policy_hash(style)
    );
    let head = html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (suite) " · jurat" }
            link rel="icon" href="data:,";
            style { (PreEscaped(style)) }
        }
    };
    let top = html! {
        a.skip href="#content" { "Skip to content" }
        header.top { nav.crumbs aria-label="Where you are" { span.brand { "jurat" } span.step { span aria-current="page" { (line(suite)) } } } }
    };
    format!(
        "{}<html lang=\"en\">{}<body class=\"file\">{}<main id=\"content\" tabindex=\"-1\">",
        DOCTYPE.0, head.0, top.0
    )
}

fn content(
    report: &RunReport,
    options: &FileOptions,
    cost: Option<&CostPage>,
    comparison: Option<&(Compared, Vec<Listed>)>,
) -> Markup {
    html! {
        div.head { h1 { (line(&report.suite)) } }
        p.sentence { (sentence(&report.decision.sentence)) }
        @for note in &report.decision.notes { p.note { (sentence(note)) } }
        @if let Some(description) = &report.description { p.description { (lines(description)) } }
        @if !options.results_only {
            p.about { (overview::when(report)) }
            @for note in report.fault.iter().chain(&report.observed.notes) { p.note { (sentence(note)) } }
        }
        (overview::results("run", report))
        @if let Some(cost) = cost { (cost::in_file(cost)) }
        @if let Some((compared, listed)) = comparison { (compare::in_file(&compared.comparison, listed, options.results_only)) }
    }
}

fn chosen(found: &FoundCases, n_cases: u64) -> String {
    let n = counted(found.cases.len() as u64, "case");
    format!(
        "This file has the {n} that `{}` finds, of {} in the run. Totals are those of the whole run.",
        found.query,
        grouped(n_cases)
    )
}

fn part(view: &RunView, case: CaseIx, options: &FileOptions, omitted: &Omitted) -> Result<Option<String>, ViewError> {
    let Some((title, markup)) = of_case(view, case, options, omitted)? else { return Ok(None) };
    let part = html! {
        details.card.task id={ "case-" (case.number()) } {
            summary { (line(&title)) }
            (markup)
        }
    };
    Ok(Some(part.0))
}

fn omission(omitted: &Omitted) -> String {
    if omitted.paths.is_empty() {
        return String::new();
    }
    let paths: Vec<String> = omitted.paths.iter().map(|it| format!("`{it}`")).collect();
    let words = format!(
        "Left out on purpose: what rows have at {}, {}, wherever it stands.",
        paths.join(", "),
        counted(omitted.n_texts() as u64, "text")
    );
    html! { p.note { (sentence(&words)) } }.0
}
