//! What a definition says about itself, and the files that it includes.

use jurat_format::field::Field;
use jurat_format::form::Form;
use jurat_format::shape;
use jurat_format::value::Spanned;

use crate::section::{Heading, Section};

pub(super) const NAME: Section<Option<Spanned<String>>> =
    Heading::new("suite", Form::Text, "the name of the suite", &[]).read(|reading, _, known, at| {
        let name = reading.text("`suite`", at.node);
        *known = if at.is_main { name } else { known.take() };
    });

pub(super) const DESCRIPTION: Section<Option<String>> =
    Heading::new("description", Form::Text, "what the suite is for; shown in reports", &[]).read(
        |reading, _, known, at| {
            let text = reading.text("`description`", at.node).map(|it| it.value);
            *known = if at.is_main { text } else { known.take() };
        },
    );

/// Read before the sections.
pub(super) const INCLUDE: Field<Vec<Spanned<String>>> =
    Field::optional("include", shape::TEXTS, "suite files whose sections are added to this one");

pub(super) const INCLUDE_HEADING: Heading = Heading { key: INCLUDE.key, parts: &[] };
