//! Rows before they are judged: read in order, numbered, and only those that were selected.

use std::borrow::Cow;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use jurat_compare::expression::{Expression, ExpressionError, Interrupt};
use jurat_core::case::{Case, Room};
use jurat_core::evidence::fault::of_run;
use jurat_core::evidence::run;
use jurat_core::plan::{CaseName, Plan, row_tags};
use jurat_core::suite::{Records, RowSource};
use jurat_core::verdict::{StopReason, Verdict};
use jurat_format::value::{JsonError, Map, Record, Val, parse_json};
use jurat_store::records::{
    Chunk, ColumnParts, ReadSummary, RowAt, RowId, RowLimits, RowNames, RowsError, read_all_within, read_part_within,
    row_id, sections_by_source,
};

use crate::shard::ShardPart;
use crate::variants::Asked;
use crate::{Rerun, RunError, Stop};

/// The first member of a row that a program could not write: why not. It stands there twice, which no row of a program has.
pub const REFUSED: &str = "@refused";

/// How such a row begins.
const REFUSED_START: &str = "{\"@refused\":";

/// Whether a row may be one that a program could not write. Whether it is, [`Rows::base`] decides.
pub(crate) fn may_be_refused(text: &str) -> bool {
    text.starts_with(REFUSED_START)
}

/// Which rows are run.
#[derive(Debug, Default)]
pub struct Selection {
    /// The most rows, of those that the rest selects.
    pub limit: Option<u64>,
    /// Those for which this holds. It reads the members of the row, and `row`, `id` and `tags`.
    pub filter: Option<Expression>,
    /// Those that carry one of these tags; all when there are none.
    pub tags: Vec<String>,
    /// Those of an earlier run.
    pub rerun: Option<Rerun>,
}

impl Selection {
    /// Whether every row is run, up to the limit.
    pub(crate) fn takes_all(&self) -> bool {
        self.filter.is_none() && self.tags.is_empty() && self.rerun.is_none()
    }
}

/// Some rows, each with its place among all rows, selected or not: the place stays the same whatever is selected.
pub(crate) struct Batch {
    pub(crate) chunk: Chunk,
    first: u64,
    /// The places of the rows when they do not follow each other.
    places: Option<Vec<u64>>,
    /// When the rows run, where that is not the order of their places.
    turns: Option<Vec<u64>>,
    /// Whether only the cases run that ask something new; the others are read again.
    pub(crate) is_ahead: bool,
}

/// A row of a batch.
#[derive(Clone, Copy)]
pub(crate) struct BatchRow<'b> {
    /// Its place among all rows.
    pub(crate) place: u64,
    /// When it runs, among all sources of cases; `None` when they run in the order of their places.
    pub(crate) turn: Option<u64>,
    pub(crate) at: &'b RowAt,
    pub(crate) text: &'b str,
    /// What its columns say, where it comes in columns.
    pub(crate) columns: Option<&'b ColumnParts<'b>>,
}

impl Batch {
    /// Rows that run in an order of their own.
    pub(crate) fn ordered(chunk: Chunk, places: Vec<u64>, turns: Vec<u64>) -> Batch {
        Batch { chunk, first: 0, places: Some(places), turns: Some(turns), is_ahead: false }
    }

    /// The same rows, of which only the cases run that ask something new.
    pub(crate) fn ahead(self) -> Batch {
        Batch { is_ahead: true, ..self }
    }

    /// The rows, with what the plan reads of them where they come in columns.
    pub(crate) fn iter<'b>(&'b self, columns: Option<&'b ColumnParts<'b>>) -> impl Iterator<Item = BatchRow<'b>> {
        self.chunk.iter().enumerate().map(move |(ix, (at, text))| BatchRow {
            place: self.places.as_ref().map_or(self.first + ix as u64, |it| it[ix]),
            turn: self.turns.as_ref().map(|it| it[ix]),
            at,
            text,
            columns,
        })
    }
}

/// Where rows come from and how they are named.
pub(crate) struct Rows<'r> {
    records: &'r [Records],
    sections: Vec<&'r Records>,
    pub(crate) names: RowNames,
    limits: RowLimits,
    /// The rows that alone are read.
    part: Option<&'r ShardPart>,
}

impl<'r> Rows<'r> {
    pub(crate) fn of(records: &'r [Records]) -> Rows<'r> {
        let (sections, names) = (sections_by_source(records), RowNames::of_all(records));
        Rows { records, sections, names, limits: RowLimits::default(), part: None }
    }

    /// The same, of which only a part is read.
    pub(crate) fn within(self, part: Option<&'r ShardPart>) -> Rows<'r> {
        let names = match part {
            Some(ShardPart::Rows(part)) => self.names.within(part),
            Some(ShardPart::Defined { .. }) | None => self.names,
        };
        Rows { names, part, ..self }
    }

    fn read_chunks(
        &self,
        stdin: &mut dyn Read,
        each: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<ReadSummary, RowsError> {
        match self.part {
            None => read_all_within(self.records, stdin, self.limits, each),
            Some(ShardPart::Rows(part)) => read_part_within(self.records, part, self.limits, each),
            Some(ShardPart::Defined { .. }) => Ok(ReadSummary::default()),
        }
    }

    /// The same for cases that ask: they take so long that reading in small pieces costs nothing, and few rows are held at a time.
    pub(crate) fn asked_about(records: &'r [Records]) -> Rows<'r> {
        let limits = RowLimits { chunk: 16 << 10, ..RowLimits::default() };
        Rows { limits, ..Rows::of(records) }
    }

    /// Whether some rows are runs of agents, of which more is known than stands in them.
    pub(crate) fn has_runs(&self) -> bool {
        self.sections.iter().any(|it| it.is_runs)
    }

    /// Whether the rows of a source are runs of agents.
    pub(crate) fn are_runs(&self, source: u32) -> bool {
        self.sections.get(source as usize).is_some_and(|it| it.is_runs)
    }

    /// Whether some rows get what they do not have themselves.
    pub(crate) fn has_defaults(&self) -> bool {
        self.sections.iter().any(|it| !it.defaults.is_empty())
    }

    /// What tasks see of a row: a row that is not an object has one name, a run has what can be read from it; or why there is nothing to see.
    pub(crate) fn base<'v>(&self, source: u32, record: Record<'v>) -> Result<Val<'v>, Verdict> {
        let Record { value: row, repeated_key } = record;
        if repeated_key {
            let refused = row.get(REFUSED).and_then(Val::as_str);
            return Err(Verdict::error(
                refused.unwrap_or("this row has a key twice, of which only the last would be read"),
            ));
        }
        match self.sections.get(source as usize) {
            Some(section) if section.is_runs => {
                let evidence = run::evidence(row).map_err(Verdict::error)?;
                of_run(&evidence).map_or(Ok(evidence), Err)
            }
            Some(section) if !section.defaults.is_empty() => Ok(section.with_defaults(base_context(row)).into_owned()),
            _ => Ok(base_context(row)),
        }
    }

    /// The directory of the file that rows come from, when they do.
    pub(crate) fn home(&self, source: u32) -> Option<&'r Path> {
        let files = self.records.iter().flat_map(|it| match &it.from {
            RowSource::Files(files) => files.iter().map(|it| it.path.parent()).collect(),
            RowSource::StandardInput | RowSource::Program | RowSource::Inline(_) => vec![None],
        });
        files.into_iter().nth(source as usize).flatten()
    }

    /// How many sources rows come from.
    pub(crate) fn n_sources(&self) -> u32 {
        self.sections.len() as u32
    }

    /// Reads the selected rows until `each` breaks or the run is stopped. `n_before` cases were selected before them. Returns how many rows there are, selected
    /// or not.
    pub(crate) fn read(
        &self,
        selection: &Selection,
        n_before: u64,
        stdin: &mut dyn Read,
        stop: &Stop,
        each: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Result<u64, RunError> {
        let (mut n_rows, mut n_selected) = (0, n_before);
        let mut failed = None;
        let _entered = stop.evaluations().enter();
        self.read_chunks(stdin, &mut |chunk| {
            let first = n_rows;
            n_rows += chunk.rows.len() as u64;
            let batch = match self.selected(selection, chunk, first) {
                // Which rows are selected is not known.
                _ if Interrupt::was_noticed() => return ControlFlow::Break(()),
                Ok(batch) => batch,
                Err(error) => {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
            };
            let Some(batch) = limited(batch, selection.limit, &mut n_selected) else { return ControlFlow::Break(()) };
            if !batch.chunk.rows.is_empty() {
                each(batch)?;
            }
            let is_stopped = stop.reason().is_some_and(|it| !is_listed(it));
            if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failed.map_or(Ok(n_rows), Err)
    }

    /// How many rows there are; `None` when they can be read only once, or when the run is stopped before it is known.
    pub(crate) fn count(&self, stop: &Stop) -> Option<u64> {
        if self.records.iter().any(|it| it.from.is_stream()) {
            return None;
        }
        let counted = self.read_chunks(&mut std::io::empty(), &mut |_| {
            if stop.reason().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        counted.ok().filter(|it| !it.stopped).map(|it| it.rows)
    }

    /// The rows of a chunk that the filter and the tags select.
    fn selected(&self, selection: &Selection, mut chunk: Chunk, first: u64) -> Result<Batch, RunError> {
        if selection.takes_all() {
            return Ok(Batch { chunk, first, places: None, turns: None, is_ahead: false });
        }
        let mut selected = Vec::with_capacity(chunk.rows.len());
        for (ix, (at, text)) in chunk.iter().enumerate() {
            if self.is_selected(selection, at, text)? {
                selected.push(ix);
            }
            if Interrupt::was_noticed() {
                break;
            }
        }
        let places = selected.iter().map(|ix| first + *ix as u64).collect();
        chunk.rows = selected.into_iter().map(|ix| chunk.rows[ix].clone()).collect();
        Ok(Batch { chunk, first, places: Some(places), turns: None, is_ahead: false })
    }

    fn is_selected(&self, selection: &Selection, at: &RowAt, text: &str) -> Result<bool, RunError> {
        let row = self.parsed(at, text)?.value;
        let tags = self.tags(at.source, &row);
        if !selection.tags.is_empty() && !selection.tags.iter().any(|it| tags.contains(&it.as_str())) {
            return Ok(false);
        }
        if selection.filter.is_none() && selection.rerun.is_none() {
            return Ok(true);
        }
        let id = id_text(&self.id(at, &row, text)?).into_owned();
        if selection.rerun.as_ref().is_some_and(|it| !it.has_row(&id)) {
            return Ok(false);
        }
        let Some(filter) = &selection.filter else { return Ok(true) };
        let tags: Val<'_> = tags.iter().map(|it| Val::from(*it)).collect();
        let members = row.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key, it.borrowed()));
        let own = [("row", row.borrowed()), ("id", Val::from(id.as_str())), ("tags", tags)];
        let names = Val::Map(members.chain(own).collect::<Map<'_>>());
        filter.holds(&names).map_err(|error| self.bad_filter(at, error))
    }

    /// The tags of a row: those of its section, and its own.
    pub(crate) fn tags<'t>(&'t self, source: u32, row: &'t Val<'_>) -> Vec<&'t str> {
        let section = self.sections.get(source as usize);
        let of_section = section.into_iter().flat_map(|it| &it.tags).map(|it| it.value.as_str());
        of_section.chain(row_tags(row)).collect()
    }

    /// What a row is known by when tasks are chosen for it.
    pub(crate) fn case_name<'n>(&'n self, plan: &Plan, id: &'n str, (source, row): (u32, &'n Val<'_>)) -> CaseName<'n> {
        let tags = if plan.narrows() { self.tags(source, row) } else { Vec::new() };
        CaseName::of_row(id, tags)
    }

    /// The id of a row.
    pub(crate) fn id<'v>(&self, at: &RowAt, row: &'v Val<'_>, text: &str) -> Result<RowId<'v>, RunError> {
        let path = self.sections.get(at.source as usize).and_then(|it| it.id.as_ref()).map(|it| &it.value);
        row_id(row, path, text).map_err(|error| RunError::Id { row: self.name(at), error })
    }

    /// The case of a row at its beginning. The row holds its evidence, or a model is asked about it, or it is known why there is none.
    pub(crate) fn begin<'p>(
        &'p self,
        plan: &'p Plan,
        (id, source): (&'p str, u32),
        (row, base): (&'p Val<'p>, &'p Result<Val<'p>, Verdict>),
        asked: Option<&Asked>,
        room: &'p Room<'p>,
    ) -> Case<'p> {
        let name = self.case_name(plan, id, (source, base.as_ref().unwrap_or(row)));
        match (base, plan.ask.as_ref().zip(asked)) {
            (Err(verdict), _) => Case::without_evidence(plan, name, verdict),
            (Ok(base), None) => Case::of_evidence(plan, base, name),
            (Ok(base), Some((ask, asked))) => {
                Case::of_probe(plan, (ask, asked.prompt), asked.subject(), base, name, room)
            }
        }
    }

    pub(crate) fn parsed<'t>(&self, at: &RowAt, text: &'t str) -> Result<Record<'t>, RunError> {
        parse_json(text).map_err(|error| self.not_json(at, error))
    }

    /// A row that is not JSON: the place is that in the file, not that in the row.
    pub(crate) fn not_json(&self, at: &RowAt, error: JsonError) -> RunError {
        let error = JsonError { line: at.line as usize + error.line - 1, ..error };
        RunError::Json { row: self.name(at), error }
    }

    pub(crate) fn name(&self, at: &RowAt) -> String {
        self.names.row(at.source, at.number)
    }

    fn bad_filter(&self, at: &RowAt, error: ExpressionError) -> RunError {
        RunError::Filter { row: self.name(at), error }
    }
}

/// Whether the rows that a stopped run does not come to are listed all the same: a used-up budget and an endpoint that fails leave the rest `not_run`, but known.
/// Whatever else stops a run stops reading, too.
pub(crate) fn is_listed(reason: StopReason) -> bool {
    matches!(reason, StopReason::Budget | StopReason::EndpointFault)
}

/// An id as people see it.
pub(crate) fn id_text<'i>(id: &'i RowId<'_>) -> Cow<'i, str> {
    match id {
        RowId::Given(id) => Cow::Borrowed(id),
        RowId::Content(hash) => Cow::Owned(format!("{hash:032x}")),
    }
}

/// The batch without the rows beyond the limit; `None` when the limit was reached before it.
fn limited(mut batch: Batch, limit: Option<u64>, n_selected: &mut u64) -> Option<Batch> {
    let left = limit.map_or(u64::MAX, |it| it.saturating_sub(*n_selected));
    if left == 0 {
        return None;
    }
    if (batch.chunk.rows.len() as u64) > left {
        batch.chunk.rows.truncate(left as usize);
    }
    *n_selected += batch.chunk.rows.len() as u64;
    Some(batch)
}

/// A row that is not an object has one name.
fn base_context(row: Val<'_>) -> Val<'_> {
    match row {
        Val::Map(_) => row,
        other => Val::Map([("value", other)].into_iter().collect()),
    }
}
