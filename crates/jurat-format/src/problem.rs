//! What is wrong with a definition, as data: a code, a sentence, the places it is about, and a remedy.
//!
//! Problems are made by small functions beside the code that finds them, collected, and rendered in one place
//! (`jurat-report`). Nothing here prints.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::value::Span;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing runs until it is fixed.
    Error,
    /// Printed; the run continues unless warnings are made errors.
    Warning,
    /// Depends on the machine and the environment of the run. `check` mentions it, `run` refuses.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}

/// The name of one kind of problem. It never changes, and `docs/problems/` has a page for it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// `area::name`
    pub name: &'static str,
    pub severity: Severity,
    /// One line for lists of codes.
    pub summary: &'static str,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub code: &'static Code,
    severity: Severity,
    /// What is wrong: a lower-case fragment, names in backticks.
    pub message: String,
    /// Where; the first is the main place. Empty only when there is no text to point into.
    pub labels: Vec<Label>,
    pub help: Vec<String>,
    /// Whether the text at its places must not be shown, because it holds a secret.
    pub is_secret: bool,
}

/// A place a problem is about, and what there is to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub span: Span,
    /// A few words; may be empty.
    pub text: String,
}

impl Problem {
    /// A problem of this kind.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Problem {
        Problem {
            code,
            severity: code.severity,
            message: readable(message.into()),
            labels: Vec::new(),
            help: Vec::new(),
            is_secret: false,
        }
    }

    /// The same, with its places named and none of their text shown.
    #[must_use]
    pub fn without_excerpt(self) -> Problem {
        Problem { is_secret: true, ..self }
    }

    /// Points at a place. The first call gives the main place, later ones give places that explain it.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Problem {
        self.labels.push(Label { span, text: readable(text.into()) });
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help.push(readable(help.into()));
        self
    }

    /// Offers the known name that is nearest to what was written, if one is near.
    #[must_use]
    pub fn did_you_mean<'n>(self, written: &str, known: impl IntoIterator<Item = &'n str>) -> Problem {
        match nearest(written, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The same where it cannot be passed over: a key that is not set matters once the suite is run.
    #[must_use]
    pub fn as_error(self) -> Problem {
        Problem { severity: Severity::Error, ..self }
    }
}

/// Problems as they are found. Of each kind the first hundred are listed: more are not fixed at once, and a file of slips must
/// not take more memory than a file. Since the kind decides how bad a problem is, no error is lost behind warnings.
#[derive(Debug, Default)]
pub struct Problems {
    listed: Vec<Problem>,
    n_found: HashMap<&'static str, usize>,
    n_errors: usize,
}

const MAX_OF_A_KIND: usize = 100;

impl Problems {
    pub fn push(&mut self, problem: Problem) {
        self.n_errors += usize::from(problem.severity() == Severity::Error);
        let n_found = self.n_found.entry(problem.code.name).or_default();
        *n_found += 1;
        match (*n_found).cmp(&MAX_OF_A_KIND) {
            Ordering::Less => self.listed.push(problem),
            Ordering::Equal => self.listed.push(problem.help("there may be more of this kind; they are not listed")),
            Ordering::Greater => {}
        }
    }

    pub fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|it| self.push(it));
    }

    /// Whether another problem of this kind would be listed. Worth asking before one that takes a search to make.
    pub fn has_room(&self, code: &Code) -> bool {
        self.n_found.get(code.name).is_none_or(|it| *it < MAX_OF_A_KIND)
    }

    /// How many errors were found, listed or not.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// The problems, without those that say the same about the same place.
    pub fn into_vec(self) -> Vec<Problem> {
        each_once(self.listed)
    }
}

/// The problems without those that say the same about the same place: what an alias repeats is wrong once.
fn each_once(problems: Vec<Problem>) -> Vec<Problem> {
    let mut seen = HashSet::with_capacity(problems.len());
    let is_new: Vec<bool> = problems
        .iter()
        .map(|it| seen.insert((it.code.name, it.labels.first().map(|it| it.span), it.message.as_str())))
        .collect();
    problems.into_iter().zip(is_new).filter_map(|(problem, is_new)| is_new.then_some(problem)).collect()
}

/// A sentence of a length that people read: names in it may be as long as a file.
fn readable(sentence: String) -> String {
    const LONGEST_NAME: usize = 300;
    const LONGEST: usize = 4000;
    if sentence.len() <= LONGEST_NAME {
        return sentence;
    }
    let parts = sentence.split('`').enumerate().map(|(ix, part)| match ix % 2 {
        1 => cut(part, LONGEST_NAME),
        _ => cut(part, LONGEST),
    });
    let parts: Vec<String> = parts.collect();
    cut(&parts.join("`"), LONGEST)
}

/// The start of a text that is too long, with a sign that more followed.
fn cut(text: &str, longest: usize) -> String {
    match text.len() <= longest {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(longest)]),
    }
}

/// The known name that `written` most likely means.
pub fn nearest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = fold(written);
    let similarity = |name: &str| strsim::normalized_damerau_levenshtein(&folded, &fold(name));
    known
        .into_iter()
        .filter(|name| may_be_near(&folded, name))
        .take(MAX_SIMILARITIES)
        .map(|name| (name, similarity(name)))
        .filter(|(name, similarity)| {
            *similarity >= 0.6 || (written.len() <= 4 && name.len() <= 4 && *similarity >= 0.5)
        })
        .max_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(name, _)| name)
}

/// How many names are looked at closely; a suite may have a hundred thousand.
const MAX_SIMILARITIES: usize = 2000;

/// Whether the lengths alone do not rule out that two names are near each other. Costs nothing, unlike the comparison.
fn may_be_near(folded: &str, name: &str) -> bool {
    const LONGEST: usize = 200;
    // `fold` drops what is neither letter nor digit, and nothing else.
    let n_dropped = || name.bytes().filter(|it| it.is_ascii_punctuation() || it.is_ascii_whitespace()).count();
    folded.len() <= LONGEST && name.len() <= LONGEST && {
        let (left, right) = (folded.len(), name.len() - n_dropped());
        left.abs_diff(right) * 2 <= left.max(right)
    }
}

/// `fieldPath`, `field-path` and `field_path` are near each other.
fn fold(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many names a message lists. There are fewer operators than this.
const MAX_LISTED: usize = 150;

/// Names of data, the way messages list them: plain, and only some when there are many.
pub fn listed_plainly(names: &[&str]) -> String {
    const SOME: usize = 40;
    match names.len().checked_sub(SOME) {
        None | Some(0) => names.join(", "),
        Some(n_more) => format!("{} and {n_more} more", names[..SOME].join(", ")),
    }
}

/// Names in backticks, the way messages list choices: `` `a`, `b` or `c` ``.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    joined(names, "or")
}

/// Names in backticks, the way messages list what there is: `` `a`, `b` and `c` ``.
pub fn listed_all<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    joined(names, "and")
}

fn joined<'n>(names: impl IntoIterator<Item = &'n str>, conjunction: &str) -> String {
    let mut rest = names.into_iter();
    let mut names: Vec<String> = rest.by_ref().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let n_more = rest.count();
    if n_more > 0 {
        names.push(format!("{n_more} more"));
    }
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {conjunction} {last}", rest.join(", ")),
    }
}
