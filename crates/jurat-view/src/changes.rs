//! Which of the changed cases of a comparison are listed.
//!
//! `change:regression,fix` and `change:TASK=regression` are about how cases and tasks changed, `cause:judge` about why, and a word is looked for in ids. Terms
//! beside each other must all hold.

use std::fmt;

use jurat_core::contrast::{Cause, Change, Contrast, Direction, TaskChange};
use jurat_format::problem::listed;

/// Terms that must all hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Changes(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    Change { task: Option<String>, kinds: Vec<Kind> },
    Cause(Vec<Cause>),
    Text(String),
}

/// How a case changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Regression,
    Fix,
    /// A side could not be judged.
    Unknown,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Regression, Kind::Fix, Kind::Unknown];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Regression => "regression",
            Kind::Fix => "fix",
            Kind::Unknown => "unknown",
        }
    }

    pub(crate) fn of(change: &Change) -> Kind {
        match change.direction() {
            _ if change.base.judged == 0 || change.new.judged == 0 => Kind::Unknown,
            Direction::Regression => Kind::Regression,
            Direction::Fix => Kind::Fix,
        }
    }

    fn of_task(change: &TaskChange) -> Kind {
        match change.direction {
            Some(Direction::Regression) => Kind::Regression,
            Some(Direction::Fix) => Kind::Fix,
            None => Kind::Unknown,
        }
    }
}

impl Changes {
    /// Reads terms; the reason, when they cannot be read. `tasks` are the ids that may be meant.
    pub(crate) fn parse(text: &str, tasks: &[String]) -> Result<Changes, String> {
        words(text)?.iter().map(|it| Term::parse(it, tasks)).collect::<Result<_, _>>().map(Changes)
    }

    pub(crate) fn fits(&self, contrast: &Contrast, change: &Change) -> bool {
        self.0.iter().all(|term| match term {
            Term::Change { task: None, kinds } => kinds.contains(&Kind::of(change)),
            Term::Change { task: Some(task), kinds } => {
                change.of_tasks.iter().any(|it| it.task == *task && kinds.contains(&Kind::of_task(it)))
            }
            Term::Cause(causes) => contrast.causes(change).iter().any(|it| causes.contains(it)),
            Term::Text(text) => change.id.to_lowercase().contains(&text.to_lowercase()),
        })
    }
}

impl Term {
    fn parse(word: &str, tasks: &[String]) -> Result<Term, String> {
        match word.split_once(':') {
            Some(("change", rest)) => match rest.rsplit_once('=') {
                Some((task, kinds)) => Term::of_task(task, kinds, tasks),
                None => Ok(Term::Change { task: None, kinds: named(rest, &Kind::ALL, Kind::name)? }),
            },
            Some(("cause", rest)) => Ok(Term::Cause(named(rest, &CAUSES, Cause::name)?)),
            Some((key, _)) if key.chars().all(|it| it.is_ascii_lowercase()) => {
                Err(format!("`{key}:` means nothing in a comparison; it takes `change:`, `cause:` and parts of ids"))
            }
            _ => Ok(Term::Text(word.to_owned())),
        }
    }

    fn of_task(task: &str, kinds: &str, tasks: &[String]) -> Result<Term, String> {
        match tasks.iter().any(|it| it == task) {
            true => Ok(Term::Change { task: Some(task.to_owned()), kinds: named(kinds, &Kind::ALL, Kind::name)? }),
            false => Err(format!(
                "no task is called `{task}` in both runs; there are {}",
                listed(tasks.iter().map(String::as_str))
            )),
        }
    }
}

const CAUSES: [Cause; 4] = [Cause::Evidence, Cause::Definition, Cause::Judge, Cause::Fault];

/// Names with commas between them.
fn named<T: Copy>(names: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<Vec<T>, String> {
    let one = |wanted: &str| {
        let found = all.iter().copied().find(|it| name(*it) == wanted);
        found.ok_or_else(|| format!("`{wanted}` is none of {}", listed(all.iter().map(|it| name(*it)))))
    };
    names.split(',').map(one).collect()
}

/// Splits at spaces outside of quotes, and takes the quotes away.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut is_quoted, mut has_word) = (Vec::new(), String::new(), false, false);
    for it in text.chars() {
        match it {
            '"' => (is_quoted, has_word) = (!is_quoted, true),
            it if it.is_whitespace() && !is_quoted => {
                if std::mem::take(&mut has_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            it => {
                word.push(it);
                has_word = true;
            }
        }
    }
    if is_quoted {
        return Err("a quote `\"` is not closed".to_owned());
    }
    words.extend(has_word.then_some(word));
    Ok(words)
}

/// The term for a task that changed, as [`Changes::parse`] reads it.
pub(crate) fn of_task(task: &str, kind: Kind) -> String {
    let is_plain = task.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '.'));
    match is_plain {
        true => format!("change:{task}={}", kind.name()),
        false => format!("change:\"{}\"={}", task.replace('"', ""), kind.name()),
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_and_mistakes_are_named() {
        let tasks = ["tone".to_owned(), "a b".to_owned()];
        let of = |text: &str| Changes::parse(text, &tasks);
        let kinds = vec![Kind::Regression, Kind::Fix];
        assert_eq!(of("change:regression,fix"), Ok(Changes(vec![Term::Change { task: None, kinds }])));
        let term = Term::Change { task: Some("a b".to_owned()), kinds: vec![Kind::Unknown] };
        assert_eq!(of(&of_task("a b", Kind::Unknown)), Ok(Changes(vec![term])));
        assert_eq!(of("q-1 cause:judge").map(|it| it.0.len()), Ok(2));
        assert_eq!(of("change:worse"), Err("`worse` is none of `regression`, `fix` or `unknown`".to_owned()));
        assert!(of("change:tune=fix").is_err_and(|it| it.contains("`tune`") && it.contains("`tone`")));
        assert!(of("verdict:failed").is_err_and(|it| it.contains("`change:`")));
        assert!(of("\"open").is_err());
    }
}
