//! YAML: a list of rows, or one object that is the only row. The text is read whole, because the meaning of a line may depend on all before it.

use std::fs::File;
use std::ops::ControlFlow;

use jurat_format::source::Sources;
use jurat_format::value::{Node, SourceId, Spanned, Val};
use jurat_format::yaml::read_tree;

use super::chunk::Delivery;
use super::{RowsFault, SampleError, inline};
use crate::bounded::{Bytes, read_at_most};

/// The most bytes of a file.
const MOST_BYTES: u64 = 64 << 20;

pub(super) fn read(file: File, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let size = file.metadata()?.len();
    let bytes = match read_at_most(file, size, MOST_BYTES)? {
        Bytes::Whole(bytes) => bytes,
        Bytes::Start(_) => return Err(SampleError::TooLarge { what: "a YAML file", most: MOST_BYTES }.into()),
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        SampleError::NotUtf8 { line: super::mark::n_lines(good) + 1 }
    })?;
    inline::read(&rows(text)?, delivery)
}

fn rows(text: String) -> Result<Vec<Spanned<Val<'static>>>, SampleError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut sources = Sources::default();
    let source = sources.add("rows.yaml", text.clone());
    let mut problems = Vec::new();
    let tree = read_tree(&text, source, false, &mut problems);
    if let Some(problem) = problems.first() {
        let (start, _) = problem
            .labels
            .first()
            .map(|it| sources.position(it.span))
            .unwrap_or_else(|| sources.position(jurat_format::value::Span::new(SourceId(0), 0..0)));
        return Err(SampleError::Malformed {
            line: start.line as u64,
            column: start.column as u64,
            message: problem.message.clone(),
        });
    }
    let Some(tree) = tree else { return Ok(Vec::new()) };
    let row = |it: &Node<'_>| Spanned::new(it.to_val().into_owned(), it.span);
    match (tree.as_list(), tree.entries()) {
        (Some(items), _) => Ok(items.iter().map(row).collect()),
        (None, Some(_)) => Ok(vec![row(&tree)]),
        (None, None) => Err(SampleError::Malformed {
            line: 1,
            column: 1,
            message: "expected a list of rows or one object".to_owned(),
        }),
    }
}
