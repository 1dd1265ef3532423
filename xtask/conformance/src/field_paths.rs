//! A path looked up in a context: a value or a kind of error.

use jurat_format::value::{FieldPath, MissingKind, PathErrorKind, Val, Value};

use super::{Answer, compared, object, part};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let context = part(input, "context")?;
    let got = match part(input, "path")?.as_str() {
        None => object([("value", context.clone().into_owned())]),
        Some(path) => looked_up(path, context),
    };
    Ok(compared(case, part(case, "expect")?, &got, |expected, got| expected == got))
}

fn looked_up(path: &str, context: &Val<'_>) -> Value {
    let kind = match FieldPath::parse(path).map(|path| path.find(context).map(|found| found.into_owned().into_owned()))
    {
        Ok(Ok(value)) => return object([("value", value)]),
        Ok(Err(missing)) => match missing.kind {
            MissingKind::NoItem(_) | MissingKind::NotAList(_) | MissingKind::NoneOf(_) => "index_not_found",
            _ => "field_not_found",
        },
        Err(error) => match error.kind {
            PathErrorKind::Empty => "empty_path",
            PathErrorKind::Index => "invalid_index",
            PathErrorKind::Grammar => "invalid_path",
            PathErrorKind::TooLong => "path_too_long",
        },
    };
    object([("error", Val::from(kind))])
}
