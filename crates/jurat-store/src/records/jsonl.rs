//! One JSON value per line. Blank lines are skipped.

use jurat_format::value::parse_json;

use super::head::{End, Head};
use super::{Sample, SampleError};

pub(super) fn sample(head: &Head, most: usize) -> Result<Sample, SampleError> {
    let mut sample = Sample::default();
    let mut lines = head.text.split('\n').peekable();
    let mut start = 0;
    while let Some(line) = lines.next() {
        if sample.rows.len() == most {
            sample.more = head.end != End::File || !is_blank(line) || lines.any(|line| !is_blank(line));
            return Ok(sample);
        }
        // The last line is the only one that the end of the text can cut.
        if lines.peek().is_none()
            && let Some(cut) = head.cut_row(sample.rows.len())
        {
            cut?;
            sample.more = true;
        } else if !is_blank(line) {
            let record = parse_json(line).map_err(|it| malformed(head, start + it.column - 1, it.message))?;
            sample.push(record.value.into_owned(), record.repeated_key);
        }
        start += line.len() + 1;
    }
    Ok(sample)
}

/// Text that is no JSON; a value that continues in the next line needs another format.
fn malformed(head: &Head, at: usize, message: String) -> SampleError {
    let is_cut = message.starts_with("EOF while parsing") && parse_json(&head.text).is_ok();
    let hint = "; the value continues in the next line: name the file `.json`, or write one value on each line, as `jq -c .` does";
    head.malformed_at(at, if is_cut { message + hint } else { message })
}

fn is_blank(line: &str) -> bool {
    line.trim_ascii().is_empty()
}
