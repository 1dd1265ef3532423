//! What is wrong with a suite, as data and as text.

use std::fmt;

use jurat_format::problem::{Problem as Found, Severity};
use jurat_format::source::Sources;
use jurat_report::Style;

/// Everything that is wrong with a suite. Its text is what `jurat check` prints.
///
/// ```
/// use jurat::{Assertion, Error, Suite, compare::equals};
/// use serde_json::json;
///
/// let paid = Assertion::new("paid", "status", equals("paid")).depends_on(["fecthed"]);
/// let fetched = Assertion::new("fetched", "code", equals(200));
/// let built = Suite::builder("invoices").record(json!({ "status": "paid", "code": 200 })).tasks([paid, fetched]).build();
///
/// let Err(Error::Suite(problems)) = built else { panic!("`fecthed` is no task") };
/// let problem = problems.iter().next().expect("there is one");
/// assert_eq!((problem.code(), problem.is_error(), problem.line()), ("plan::unknown_dependency", true, Some(7)));
/// assert!(problems.to_string().contains("did you mean `fetched`?"), "{problems}");
/// ```
#[derive(Clone, Default)]
pub struct Problems {
    found: Vec<Found>,
    sources: Sources,
}

/// One thing that is wrong with a suite; see [`Problems`].
#[derive(Clone, Copy)]
pub struct Problem<'p> {
    found: &'p Found,
    sources: &'p Sources,
}

impl Problems {
    pub(crate) fn new(found: Vec<Found>, sources: Sources) -> Problems {
        Problems { found, sources }
    }

    /// Each as the data that reports are made from; [`Problems::sources`] has the texts of their places.
    pub fn as_slice(&self) -> &[Found] {
        &self.found
    }

    /// The texts that they are in.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether the suite cannot run because of one of them.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|it| it.is_error())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Problem<'_>> {
        self.found.iter().map(|found| Problem { found, sources: &self.sources })
    }

    /// The code of each, such as `plan::cycle`; `docs/problems/` has a page for every code.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        self.found.iter().map(|it| it.code.name)
    }

    /// The same for editors, as `jurat check --json` prints it.
    pub fn json(&self) -> String {
        jurat_report::problems_json(&[(&self.found, &self.sources)])
    }
}

impl<'p> Problem<'p> {
    /// Its code, such as `plan::cycle`.
    pub fn code(&self) -> &'static str {
        self.found.code.name
    }

    /// Whether the suite cannot run because of it.
    pub fn is_error(&self) -> bool {
        self.found.severity() == Severity::Error
    }

    /// What is wrong, in a sentence.
    pub fn message(&self) -> &'p str {
        &self.found.message
    }

    /// How to fix it.
    pub fn help(&self) -> impl Iterator<Item = &'p str> {
        self.found.help.iter().map(String::as_str)
    }

    /// The line where it stands, from 1, when it stands somewhere.
    pub fn line(&self) -> Option<usize> {
        let label = self.found.labels.first()?;
        Some(self.sources.position(label.span).0.line)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = jurat_report::write_problems(&mut text, &self.found, &self.sources, Style::Plain);
        let _ = jurat_report::write_summary(&mut text, &self.found, Style::Plain);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl std::error::Error for Problems {}

/// As text: a failing `unwrap` in a test should show what is wrong.
impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Problem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}
