//! `docs/reference/run-files.md` says what is in the files.

use jurat_core::plan::{CaseIx, VariantCount};
use jurat_store::journal::Journal;
use jurat_store::records::RowId;
use jurat_store::run::{BlockBuilder, CaseRow, Code, Column, Ended, RunReader, RunWriter, WriterOptions};
use rusqlite::Connection;

use crate::effects::{effect, record};
use crate::runs::{Desk, finished, place, rows};

const PAGE: &str = include_str!("../../../../docs/reference/run-files.md");

/// A run of seven cases, some of which failed, and a journal.
fn desk() -> Desk {
    let desk = Desk::new();
    let journal = Journal::open(&desk.directory.path().join("journal.db")).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: false };
    let texts = rows(7);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 2, 1), options).expect("a run");
    let mut builder = BlockBuilder::new(2, VariantCount::of(1));
    for (ix, text) in texts.iter().enumerate() {
        let id = RowId::Given(format!("r{ix}").into());
        builder.case(CaseIx::numbered(ix as u64), &id, CaseRow { place: place(&texts, ix), text, keep: false });
        if [1, 2, 4, 6].contains(&ix) {
            builder.verdict(Column(1), Code::Failed);
        }
        builder.verdict(Column(2), Code::Measured);
        if ix == 4 {
            writer.block(builder.close().expect("cases")).expect("room");
        }
    }
    writer.block(builder.close().expect("cases")).expect("room");
    record(&writer, vec![effect(0, "0.0.0", "a", "A")]).expect("safe");
    writer.finish(finished(Ended::Done)).expect("finished");
    desk
}

#[test]
fn the_page_names_every_table_and_column() {
    let desk = desk();
    for file in ["run.jurat", "journal.db"] {
        let connection = Connection::open(desk.directory.path().join(file)).expect("a database");
        let mut select = connection
            .prepare(
                "SELECT tables.name, columns.name FROM sqlite_schema AS tables
                 JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'",
            )
            .expect("SQL");
        let columns = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("columns");
        for column in columns {
            let (table, column): (String, String) = column.expect("a column");
            let has_row = PAGE.lines().any(|line| {
                let mut cells = line.split('|').skip(1);
                let names = |cell: Option<&str>, name: &str| cell.is_some_and(|it| it.contains(&format!("`{name}`")));
                names(cells.next(), &table) && names(cells.next(), &column)
            });
            assert!(has_row, "the page does not name `{column}` of `{table}`");
        }
    }
}

#[test]
fn the_questions_of_the_page_are_answered() {
    let desk = desk();
    let connection = Connection::open(desk.run()).expect("a database");
    let questions: Vec<&str> =
        PAGE.split("```sql\n").skip(1).map(|it| it.split("```").next().expect("a block")).collect();
    let answers: Vec<Vec<i64>> = questions
        .iter()
        .map(|question| {
            let mut select = connection.prepare(question).expect("SQL");
            let last = select.column_count() - 1;
            let numbers = select.query_map([], |row| Ok(row.get(last).unwrap_or(-1))).expect("answers");
            numbers.collect::<Result<_, _>>().expect("answers")
        })
        .collect();
    let reader = RunReader::open(&desk.run()).expect("a run");
    let failed: Vec<i64> = reader.find(Column(1), Code::Failed).map(|it| it.expect("a case").number() as i64).collect();
    assert_eq!(failed, [1, 2, 4, 6]);
    assert_eq!(answers, [vec![0, 0, 0], failed, vec![-1]]);
}
