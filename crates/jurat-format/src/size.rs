//! Amounts of bytes, as they are written: `512MiB`, `2GB`, or a number of bytes.

use crate::codes;
use crate::form::Form;
use crate::problem::Problem;
use crate::reader::Reading;
use crate::shape::Shape;
use crate::value::{Content, Node, Val};

pub const FORM: Form = Form::Either(&[Form::Text, Form::Integer(1)]);

pub const SHAPE: Shape<u64> = Shape::new(FORM, read);

/// The units, longest name first where one ends in another.
const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Reads an amount that is more than nothing.
pub fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<u64> {
    let bytes = match &node.content {
        Content::Scalar(Val::Str(text)) => in_bytes(text),
        Content::Scalar(Val::I(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    let bytes = bytes.filter(|it| *it > 0);
    if bytes.is_none() {
        let message = format!("{what} must be an amount of bytes, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "no amount");
        reading
            .problem(problem.help("write a number and `kB`, `MB`, `GB`, `KiB`, `MiB` or `GiB`, for example `512MiB`"));
    }
    bytes
}

fn in_bytes(text: &str) -> Option<u64> {
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let number = number.trim_end();
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let bytes = is_number.then(|| number.parse::<f64>().ok()).flatten()? * *unit as f64;
    (bytes.is_finite() && bytes < 9e15).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let read = [("1B", 1), ("2kB", 2_000), ("1.5 GiB", 3 << 29), ("512MiB", 512 << 20), ("1TB", 1_000_000_000_000)];
        for (text, bytes) in read {
            assert_eq!(in_bytes(text), Some(bytes), "{text}");
        }
        for text in ["", "MB", "12", "-1MB", "1.2.3MB", "many GB"] {
            assert_eq!(in_bytes(text), None, "{text}");
        }
    }
}
