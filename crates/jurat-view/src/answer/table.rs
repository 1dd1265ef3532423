//! The cases that a query finds as a table for other programs: what `jurat export --where` writes.

use http::StatusCode;
use jurat_core::plan::CaseIx;
use jurat_engine::view::query::Query;
use jurat_engine::view::{Detailed, ViewError};
use jurat_report::{CaseWriter, CsvWriter, JsonLinesWriter, Scope, columns, grouped};

use super::{Answer, Failure, Kind, Shown, Work, labelling};
use crate::page::cases::MOST_WRITTEN;
use crate::route::{Table, TableKind};

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>, route: &Table) -> Result<Answer, Failure> {
    let view = shown.view;
    let known = labelling::columns(work, view)?;
    let query = Query::parse(&route.q, view, &known)?.map_err(|it| Failure::Bad(it.to_string()))?;
    let found = query.all(view, &known)?;
    if found.len() as u64 > MOST_WRITTEN {
        let reason = format!(
            "the viewer writes tables of at most {} cases, and these are {}; `jurat export --where` writes all of them",
            grouped(MOST_WRITTEN),
            grouped(found.len() as u64)
        );
        return Err(Failure::Bad(reason));
    }
    let report = view.report()?;
    let (mut out, chosen) = (Vec::new(), columns::columns(Scope::Everything).collect());
    let mut writer: Box<dyn CaseWriter> = match route.kind {
        TableKind::Csv => Box::new(CsvWriter::new(&mut out, &report, chosen).map_err(unwritten)?),
        TableKind::JsonLines => Box::new(JsonLinesWriter::new(&mut out, &report, chosen)),
    };
    for number in found {
        if work.cancel.is_cancelled() {
            break;
        }
        let stored = view.reader().case(CaseIx::numbered(u64::from(number))).map_err(ViewError::from)?;
        if let Some(case) = stored {
            writer.case(&view.case_report(&case, Detailed::Tasks)?).map_err(unwritten)?;
        }
    }
    writer.end().map_err(unwritten)?;
    drop(writer);
    let name = format!("{}.{}", shown.id, route.kind.ending());
    Ok(Answer::new(StatusCode::OK, Kind::Download(name), out))
}

fn unwritten(error: std::io::Error) -> Failure {
    Failure::Unreadable(error.to_string())
}
