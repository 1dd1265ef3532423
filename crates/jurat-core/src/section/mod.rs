//! Sections: what stands under a key of the top level of a definition. Each is declared beside its reader, in the folder of its concept; `suite` has the list.

pub(crate) mod lost;
pub(crate) mod named;

use jurat_format::field::Field;
use jurat_format::form::{Form, Key};
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Node, Span};

use lost::{Lost, Part};

/// The key of a section.
pub(crate) struct Heading {
    pub(crate) key: Key,
    /// What there may be when a mistyped key probably means this one.
    pub(crate) parts: &'static [Part],
}

/// A section that is read into one part of a definition.
pub(crate) struct Section<T: 'static> {
    pub(crate) heading: Heading,
    pub(crate) read: ReadSection<T>,
}

/// Reads a section into what other files of the definition have of it.
pub(crate) type ReadSection<T> = fn(&mut Reading<'_>, &mut Lost, &mut T, &At<'_, '_>);

/// Where a section stands.
pub(crate) struct At<'n, 'a> {
    pub(crate) node: &'n Node<'a>,
    pub(crate) key_span: Span,
    /// Whether it stands in the file that was named, not in one that it includes.
    pub(crate) is_main: bool,
}

impl Heading {
    pub(crate) const fn new(name: &'static str, form: Form, doc: &'static str, parts: &'static [Part]) -> Heading {
        Heading { key: Field::optional(name, shape::tree(form), doc).key, parts }
    }

    /// The heading of a section that this version does not run.
    pub(crate) const fn reserved(name: &'static str, doc: &'static str) -> Heading {
        Heading { key: Key::reserved(name, doc), parts: &[] }
    }

    /// The heading with words for what holds when the section is absent.
    pub(crate) const fn default_words(self, words: &'static str) -> Heading {
        let Heading { key, parts } = self;
        Heading { key: key.default_words(words), parts }
    }

    pub(crate) const fn read<T>(self, read: ReadSection<T>) -> Section<T> {
        Section { heading: self, read }
    }
}
