//! The first rows of one JSON document.

use jurat_format::value::parse_json;

use super::head::{End, Head};
use super::walk::{Ahead, Flaw, Walk};
use super::{Sample, SampleError};

pub(super) fn sample(head: &Head, most: usize) -> Result<Sample, SampleError> {
    let mut sample = Sample::default();
    let (mut walk, mut at) = (Walk::default(), 0);
    let malformed = |it: Flaw| head.malformed_at(it.at, it.message);
    loop {
        let row = match walk.ahead(&head.text, &mut at).map_err(malformed)? {
            Ahead::End => return Ok(sample),
            Ahead::Row if sample.rows.len() == most => return Ok(Sample { more: true, ..sample }),
            Ahead::Row => walk.row(&head.text, &mut at, head.end != End::File).map_err(malformed)?,
            Ahead::Cut => None,
        };
        let Some(row) = row else {
            return match head.cut_row(sample.rows.len()) {
                Some(Ok(())) => Ok(Sample { more: true, ..sample }),
                Some(Err(error)) => Err(error),
                None => Err(head.malformed_at(at, walk.unfinished())),
            };
        };
        let record = parse_json(&head.text[row.clone()]).map_err(|it| {
            // What the walk lets pass and the parser does not is nested too deep, and is reported at the row's start.
            head.malformed_at(row.start, it.message)
        })?;
        sample.push(record.value.into_owned(), record.repeated_key);
    }
}
