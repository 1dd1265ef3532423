//! Sections that define things by name.

use std::collections::HashMap;

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::value::{Content, Node, Span, Spanned, Val};

use crate::section::lost::{Lost, Part};

/// Something that a section defines by name.
pub(crate) trait Named {
    fn name(&self) -> &Spanned<String>;
}

impl<T> Named for (Spanned<String>, T) {
    fn name(&self) -> &Spanned<String> {
        &self.0
    }
}

/// A section that defines things by name.
pub(crate) struct NamedSection {
    pub(crate) part: Part,
    /// What a name in it is, such as "a role in `models`".
    pub(crate) name: &'static str,
    /// What stands under a name.
    pub(crate) what: &'static str,
    /// What the section must be.
    pub(crate) needs: &'static str,
}

impl NamedSection {
    /// Reads a section into what is known already, where names can be taken by other files.
    pub(crate) fn read<T: Named>(
        &self,
        reading: &mut Reading<'_>,
        (lost, known): (&mut Lost, &mut Vec<T>),
        (section, node): (&str, &Node<'_>),
        read: fn(&mut Reading<'_>, Spanned<String>, &Node<'_>) -> Option<T>,
    ) {
        let Some(entries) = node.entries() else {
            reading.wrong_type(&format!("`{section}`"), self.needs, node);
            lost.add(self.part, None);
            return;
        };
        let mut taken: HashMap<String, Span> =
            known.iter().map(|it| (self.folded(&it.name().value), it.name().span)).collect();
        for entry in entries {
            let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
            let name = reading.id(self.name, &name);
            match name.and_then(|name| read(reading, name, &entry.value)) {
                None => lost.add(self.part, Some(entry.key.clone().into_owned())),
                Some(it) => match taken.insert(self.folded(&it.name().value), it.name().span) {
                    Some(earlier) => reading.problem(self.defined_twice(it.name(), earlier)),
                    None => known.push(it),
                },
            }
        }
    }

    /// A name by which two are the same: tools of servers are called by names in which case makes no difference.
    fn folded(&self, name: &str) -> String {
        if self.part == Part::Server { name.to_ascii_lowercase() } else { name.to_owned() }
    }

    fn defined_twice(&self, name: &Spanned<String>, earlier: Span) -> Problem {
        let problem = Problem::new(&codes::CONFLICT, format!("the {} `{}` is defined twice", self.what, name.value));
        let problem = problem.at(name.span, "again here").at(earlier, "first here");
        problem.help(match self.part {
            Part::Server => "keep one of them; upper and lower case make no difference",
            _ => "keep one of them",
        })
    }
}
