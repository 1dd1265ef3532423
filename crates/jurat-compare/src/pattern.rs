//! Regular expressions, compiled when a definition is read.
//!
//! A [`Pattern`] is Rust's ([`Pattern::rust`], for the operator `matches`) or Python's
//! ([`Pattern::python`], for the primitives whose authors wrote for Python's `re`). Either runs in
//! time linear in the text wherever the pattern allows it. Look-around and back-references do not:
//! those patterns run under a step limit, and giving up ([`StepLimit`]) is distinguished from not
//! matching, so that a slow pattern never counts against the subject.
//!
//! Captures and replacing are deliberately absent: a comparison asks whether, and how often.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use python::{Empties, EngineKind, Script, Special};
use refusal::Refusal;

mod python;
mod refusal;

pub use python::PythonFlags;

/// Patterns longer than this are refused, in bytes.
const MAX_LENGTH: usize = 16 * 1024;

/// Backtracking gives up after this many steps of one search.
const MAX_STEPS: usize = 1_000_000;

/// Memory that one compiled linear program may take, in bytes.
const MAX_LINEAR_SIZE: usize = 10 << 20;

/// Memory that the parts of one compiled backtracking program may take together, in bytes.
const MAX_BACKTRACKING_SIZE: usize = 64 << 20;

/// Instructions that one compiled backtracking program may have.
const MAX_INSTRUCTIONS: usize = 200_000;

/// A compiled regular expression. Cloning is cheap.
///
/// ```
/// # use jurat_compare::pattern::{Pattern, PythonFlags};
/// let ticket = Pattern::rust(r"^[A-Z]{3}-\d+$").unwrap();
/// assert_eq!(ticket.is_match("ABC-42"), Ok(true));
/// assert_eq!(ticket.is_match("ABC-42\n"), Ok(false));
///
/// let ticket = Pattern::python(r"^[A-Z]{3}-\d+$", PythonFlags::NONE).unwrap();
/// assert_eq!(ticket.is_match("ABC-42\n"), Ok(true));
/// ```
#[derive(Clone)]
pub struct Pattern(Arc<Compiled>);

struct Compiled {
    text: Box<str>,
    flavour: Flavour,
    usual: Machine,
    /// Machines for texts that the usual one would misjudge; the first that applies is right.
    special: Box<[(Special, Machine)]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Rust,
    Python(PythonFlags),
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// The bytes of the pattern that are wrong, when known.
    pub at: Option<Range<usize>>,
}

/// A search that gave up, so that it is not known whether the text matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the pattern gave up after {steps} steps of backtracking")]
pub struct StepLimit {
    /// How many steps were taken before giving up.
    pub steps: usize,
}

impl Pattern {
    /// Compiles a pattern as Rust's `regex` crate reads it, with look-around and back-references
    /// besides.
    pub fn rust(text: &str) -> Result<Pattern, PatternError> {
        check_length(text)?;
        let engine = match linear(text) {
            Ok(regex) => Engine::Linear(regex),
            Err(Refusal::NeedsBacktracking) => Engine::Backtracking(backtracking(text)?),
            Err(Refusal::Wrong(error)) => return Err(error),
        };
        let usual = Machine { engine, counting: Counting::Engine };
        Ok(Pattern::new(text, Flavour::Rust, usual, Box::default()))
    }

    /// Compiles a pattern as `re.compile(text, flags)` of Python 3.11 reads it.
    pub fn python(text: &str, flags: PythonFlags) -> Result<Pattern, PatternError> {
        check_length(text)?;
        let translation = python::translate(text, flags)?;
        let usual = Machine::new(&translation.usual)?;
        let special = translation.special.iter();
        let special = special.map(|(special, script)| Ok((*special, Machine::new(script)?)));
        let special = special.collect::<Result<_, PatternError>>()?;
        Ok(Pattern::new(text, Flavour::Python(flags), usual, special))
    }

    /// Returns whether the pattern matches anywhere in the text.
    #[inline]
    pub fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        match &self.machine(text).engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).map_err(gave_up),
        }
    }

    /// Returns whether the text has at least `n` matches that do not overlap, and looks no
    /// further than it must. Python's patterns count as `re.finditer`, Rust's as `find_iter`.
    ///
    /// The step limit holds for each match anew.
    pub fn count_at_least(&self, text: &str, n: usize) -> Result<bool, StepLimit> {
        match n {
            0 => Ok(true),
            1 => self.is_match(text),
            _ => self.machine(text).count_at_least(text, n),
        }
    }

    /// Returns the pattern as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    fn new(text: &str, flavour: Flavour, usual: Machine, special: Box<[(Special, Machine)]>) -> Pattern {
        Pattern(Arc::new(Compiled { text: text.into(), flavour, usual, special }))
    }

    #[inline]
    fn machine(&self, text: &str) -> &Machine {
        let compiled = &*self.0;
        if compiled.special.is_empty() {
            return &compiled.usual;
        }
        let special = compiled.special.iter().find(|(special, _)| special.applies_to(text));
        special.map_or(&compiled.usual, |(_, machine)| machine)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.text == other.0.text && self.0.flavour == other.0.flavour
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").field("text", &self.0.text).field("flavour", &self.0.flavour).finish()
    }
}

impl Special {
    fn applies_to(self, text: &str) -> bool {
        (self.final_newline && text.ends_with('\n'))
            || (self.empty && text.is_empty())
            || ((self.not_ascii || self.disputed_word)
                && !text.is_ascii()
                && (self.not_ascii || has_disputed_word(text)))
    }
}

/// Whether the text has a character that belongs to words for only one of Python and Rust.
fn has_disputed_word(text: &str) -> bool {
    static DISPUTED: LazyLock<regex::Regex> =
        LazyLock::new(|| regex::Regex::new(r"[\w~~[\p{L}\p{N}_]]").expect("the class is well formed"));
    DISPUTED.is_match(text)
}

/// A program and the rules by which its matches are counted.
struct Machine {
    engine: Engine,
    counting: Counting,
}

enum Counting {
    /// As the engine's own iterator does, which is also right for Python if no match is empty.
    Engine,
    /// As Python, for patterns with [`Empties::LastResort`].
    EmptyLastResort,
    /// As Python, for patterns with [`Empties::Hiding`].
    /// The regex is the same pattern, made to find no empty match.
    EmptyHiding { longer: fancy_regex::Regex },
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

impl Machine {
    fn new(script: &Script) -> Result<Machine, PatternError> {
        // Positions in a script would mean nothing to the author, so only reasons remain.
        let nowhere = |error: PatternError| PatternError { at: None, ..error };
        let backtracking = |text| backtracking(text).map_err(nowhere);
        let engine = match script.engine {
            EngineKind::Linear => match linear(&script.text) {
                Ok(regex) => Engine::Linear(regex),
                Err(Refusal::NeedsBacktracking) => Engine::Backtracking(backtracking(&script.text)?),
                Err(Refusal::Wrong(error)) => return Err(nowhere(error)),
            },
            EngineKind::Backtracking => Engine::Backtracking(backtracking(&script.text)?),
        };
        let counting = match &script.empties {
            Empties::Never => Counting::Engine,
            Empties::LastResort => Counting::EmptyLastResort,
            Empties::Hiding { backtracking } => {
                let longer = backtracking_builder(backtracking).find_not_empty(true).build();
                let longer = longer.map_err(|error| nowhere(refusal::of_backtracking(&error, "")));
                Counting::EmptyHiding { longer: longer? }
            }
        };
        Ok(Machine { engine, counting })
    }

    fn count_at_least(&self, text: &str, n: usize) -> Result<bool, StepLimit> {
        let longer = match &self.counting {
            Counting::Engine => return self.engine.count_at_least(text, n),
            Counting::EmptyLastResort => None,
            Counting::EmptyHiding { longer } => Some(longer),
        };
        // Python, since 3.7: the next search starts where the last match ended, and only after an
        // empty match must the next one not be empty in the same place.
        let mut n_found = 0;
        let mut next = self.engine.find(text, 0)?;
        while let Some(found) = next {
            n_found += 1;
            if n_found == n {
                return Ok(true);
            }
            next = if found.is_empty() {
                match longer_from(longer, text, found.end)? {
                    Some(longer) => Some(longer),
                    None => match text[found.end..].chars().next() {
                        Some(c) => self.engine.find(text, found.end + c.len_utf8())?,
                        None => None,
                    },
                }
            } else {
                self.engine.find(text, found.end)?
            };
        }
        Ok(false)
    }
}

/// The match that an empty one at `start` hides, if any.
fn longer_from(
    longer: Option<&fancy_regex::Regex>,
    text: &str,
    start: usize,
) -> Result<Option<Range<usize>>, StepLimit> {
    let Some(longer) = longer else {
        return Ok(None);
    };
    let here = fancy_regex::RegexInput::new(text).from_pos(start).anchored(true);
    let found = longer.find_input(here).map_err(gave_up)?;
    Ok(found.map(|it| it.range()))
}

impl Engine {
    fn count_at_least(&self, text: &str, n: usize) -> Result<bool, StepLimit> {
        match self {
            Engine::Linear(regex) => Ok(regex.find_iter(text).nth(n - 1).is_some()),
            Engine::Backtracking(regex) => {
                for (ix, found) in regex.find_iter(text).enumerate() {
                    found.map_err(gave_up)?;
                    if ix + 1 == n {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// The first match that starts at or after `start`, which must be a place between characters.
    fn find(&self, text: &str, start: usize) -> Result<Option<Range<usize>>, StepLimit> {
        match self {
            Engine::Linear(regex) => Ok(regex.find_at(text, start).map(|it| it.range())),
            Engine::Backtracking(regex) => {
                let found = regex.find_from_pos(text, start).map_err(gave_up)?;
                Ok(found.map(|it| it.range()))
            }
        }
    }
}

fn linear(text: &str) -> Result<regex::Regex, Refusal> {
    let regex = regex::RegexBuilder::new(text).size_limit(MAX_LINEAR_SIZE).build();
    regex.map_err(|error| Refusal::of_linear(&error, text))
}

fn backtracking(text: &str) -> Result<fancy_regex::Regex, PatternError> {
    let regex = backtracking_builder(text).build();
    regex.map_err(|error| refusal::of_backtracking(&error, text))
}

fn backtracking_builder(text: &str) -> fancy_regex::RegexBuilder {
    // Each look-around or stretch between references compiles on its own, and none starts without
    // one of these bytes. They share the budget, since together they are what a hostile pattern
    // would make large; the floor leaves room for a few Unicode classes in each.
    let n_parts = 1 + memchr::memchr2_iter(b'(', b'\\', text.as_bytes()).count();
    let part_size = (MAX_BACKTRACKING_SIZE / n_parts).clamp(128 << 10, MAX_LINEAR_SIZE);
    let mut builder = fancy_regex::RegexBuilder::new(text);
    builder.backtrack_limit(MAX_STEPS).delegate_size_limit(part_size).max_prog_size(MAX_INSTRUCTIONS);
    builder
}

/// Running can only fail by taking too long.
fn gave_up(_: fancy_regex::Error) -> StepLimit {
    StepLimit { steps: MAX_STEPS }
}

fn check_length(text: &str) -> Result<(), PatternError> {
    if text.len() <= MAX_LENGTH {
        return Ok(());
    }
    let message = format!("the pattern has {} bytes, more than the {MAX_LENGTH} allowed", text.len());
    Err(PatternError { message, at: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn matches(pattern: &str, text: &str, n: usize) {
        let pattern = Pattern::rust(pattern).unwrap();
        assert_eq!(pattern.is_match(text), Ok(n > 0));
        assert_eq!(pattern.count_at_least(text, n), Ok(true), "fewer than {n} matches");
        assert_eq!(pattern.count_at_least(text, n + 1), Ok(false), "more than {n} matches");
    }

    #[track_caller]
    fn refused(pattern: &str, message: &str, at: Option<Range<usize>>) {
        let error = Pattern::rust(pattern).unwrap_err();
        assert_eq!(error, PatternError { message: message.to_owned(), at });
    }

    #[test]
    fn rust_patterns_search_anywhere_and_end_at_the_end() {
        matches("b", "abcb", 2);
        matches("a$", "a\n", 0);
        matches(r"^[A-Z]{3}-\d+$", "ABC-42", 1);
        matches(r"\w+", "cafe\u{301}", 1);
        matches("a*", "baac", 3);
        matches("[a-z&&[^b]]", "abc", 2);
    }

    #[test]
    fn look_around_and_references_fall_back_to_backtracking() {
        matches("a(?=b)", "ab ac", 1);
        matches("(?<!a)b", "ab b", 1);
        matches(r"(\w)\1", "aabbc", 2);
        matches(r"(?P<x>\w)(?P=x)", "aab", 1);
        matches(r"(?P<x>\w)\k<x>", "aab", 1);
    }

    #[test]
    fn refusals_give_reason_and_place() {
        refused("(", "unclosed group", Some(0..1));
        refused("a[z-a]", "invalid character class range, the start must be <= the end", Some(2..5));
        refused(r"é\q", "unrecognized escape sequence", Some(2..4));
        refused(r"\p{Nope}", "Unicode property not found", Some(0..8));
        refused("(?>a)", "unrecognized flag", Some(2..3));
        refused("(?=a)(", "opening parenthesis without closing parenthesis", Some(6..6));
        refused(r"(a)\2", "invalid back reference to group 2", None);
    }

    #[test]
    fn large_patterns_end_in_an_error() {
        let large = "the pattern is too large once its repeats are written out";
        refused("((a{1000}){1000}){1000}", large, None);
        refused(&"a".repeat(70_000), "the pattern has 70000 bytes, more than the 16384 allowed", None);
        for pattern in [r"\w".repeat(20_000), r"\b".repeat(20_000), "(".repeat(60_000)] {
            assert!(Pattern::python(&pattern, PythonFlags::NONE).is_err());
        }
    }

    #[test]
    fn giving_up_is_not_a_mismatch() {
        let pattern = Pattern::rust(r"(a*)*(a*)*b(?=c)\1x").unwrap();
        let gave_up = pattern.is_match(&"a".repeat(40)).unwrap_err();
        assert_eq!(gave_up.to_string(), "the pattern gave up after 1000000 steps of backtracking");
        assert_eq!(pattern.count_at_least(&"a".repeat(40), 2), Err(gave_up));
    }

    #[test]
    fn patterns_are_equal_when_written_alike() {
        let python = |flags| Pattern::python("a", flags).unwrap();
        assert_eq!(Pattern::rust("a"), Pattern::rust("a"));
        assert_ne!(Pattern::rust("a").unwrap(), python(PythonFlags::NONE));
        assert_ne!(python(PythonFlags::NONE), python(PythonFlags::ASCII));
    }
}
