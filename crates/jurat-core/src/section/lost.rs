//! What a definition may have beyond what could be read of it, so that one mistake does not become many problems.

use std::collections::BTreeSet;

use jurat_format::id::same_id;

/// A part of a suite, or of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Task,
    Case,
    Ask,
    Role,
    Dimension,
    Template,
    Rubric,
    Server,
    Agent,
    Evaluator,
    Node,
    Edge,
    Outcome,
    Entry,
}

/// The parts that could not be read: by name, or without one where not even that is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lost(BTreeSet<(Part, Option<String>)>);

impl Lost {
    pub(crate) fn add(&mut self, part: Part, name: Option<String>) {
        self.0.insert((part, name));
    }

    /// Notes that there may be such parts, whatever their names.
    pub(crate) fn add_if(&mut self, is_lost: bool, parts: &[Part]) {
        self.0.extend(parts.iter().filter(|_| is_lost).map(|it| (*it, None)));
    }

    /// Notes that a whole file is lost.
    pub(crate) fn add_file(&mut self) {
        use Part::{Agent, Ask, Case, Dimension, Evaluator, Role, Rubric, Server, Task, Template};
        self.add_if(true, &[Task, Case, Ask, Role, Dimension, Template, Rubric, Server, Agent, Evaluator]);
    }

    /// Whether there may be such parts.
    pub(crate) fn any(&self, part: Part) -> bool {
        self.0.iter().any(|(it, _)| *it == part)
    }

    /// Whether there may be such parts whose names are not known.
    pub(crate) fn unnamed(&self, part: Part) -> bool {
        self.0.contains(&(part, None))
    }

    /// Whether there is such a part of which nothing but this name could be read. Names of tasks differ in more than case.
    pub(crate) fn named(&self, part: Part, name: &str) -> bool {
        let is_same = |it: &String| if part == Part::Task { same_id(it, name) } else { it == name };
        self.0.iter().any(|(it, known)| *it == part && known.as_ref().is_some_and(is_same))
    }

    /// Whether there may be such a part with this name.
    pub(crate) fn has(&self, part: Part, name: &str) -> bool {
        self.unnamed(part) || self.named(part, name)
    }
}
