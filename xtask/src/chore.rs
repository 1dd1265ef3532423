//! What a chore is: a name, a few words, and a function of its arguments.

/// One chore.
pub(crate) struct Chore {
    /// What is typed after `cargo xtask`.
    pub(crate) name: &'static str,
    /// The arguments it takes, as usage texts write them.
    pub(crate) arguments: &'static str,
    /// What it does and what the arguments mean; may be several lines.
    pub(crate) about: &'static str,
    /// Does it.
    pub(crate) run: fn(Arguments) -> Result<(), Failure>,
}

/// Why a chore did not end well.
#[derive(Debug, PartialEq)]
pub(crate) enum Failure {
    /// What was typed makes no sense; the usage text helps.
    Usage(String),
    /// The chore was done and something is wrong; the message says what to do about it.
    Failed(String),
    /// The chore was done, something is wrong, and its output has said so already.
    Told,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure::Failed(message.into())
    }

    pub(crate) fn message(&self) -> &str {
        match self {
            Failure::Usage(message) | Failure::Failed(message) => message,
            Failure::Told => "see above",
        }
    }
}

/// The words after the chore's name. A chore takes out what it knows and ends with [`words`](Self::words)
/// or [`finish`](Self::finish).
#[derive(Debug)]
pub(crate) struct Arguments(Vec<String>);

impl Arguments {
    pub(crate) fn of(words: impl IntoIterator<Item = String>) -> Arguments {
        Arguments(words.into_iter().collect())
    }

    /// Takes out a flag; says whether it was there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|it| it == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Takes out an option and the whole number that follows it.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>, Failure> {
        let Some(at) = self.0.iter().position(|it| it == name) else { return Ok(None) };
        let number = self.0.get(at + 1).and_then(|it| it.parse().ok());
        let number = number.ok_or_else(|| Failure::Usage(format!("`{name}` wants a whole number after it")))?;
        self.0.drain(at..=at + 1);
        Ok(Some(number))
    }

    /// Takes out an option and the word that follows it.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let Some(at) = self.0.iter().position(|it| it == name) else { return Ok(None) };
        if self.0.get(at + 1).is_none_or(|it| it.starts_with('-')) {
            return Err(Failure::Usage(format!("`{name}` wants a word after it")));
        }
        Ok(self.0.drain(at..=at + 1).nth(1))
    }

    /// Takes out the first word that is not an option.
    pub(crate) fn word(&mut self) -> Option<String> {
        let at = self.0.iter().position(|it| !it.starts_with('-'))?;
        Some(self.0.remove(at))
    }

    /// All words that are left.
    pub(crate) fn words(self) -> Vec<String> {
        self.0
    }

    /// Whatever nobody took out is a mistake.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.0.first() {
            None => Ok(()),
            Some(word) => Err(Failure::Usage(format!("`{word}` means nothing here"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::of(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_taken_out_wherever_they_stand() {
        let mut given = arguments("json --seconds 30 --only a --quick --only b");
        assert_eq!(given.number("--seconds"), Ok(Some(30)));
        assert_eq!(given.text("--only"), Ok(Some("a".to_owned())));
        assert_eq!(given.text("--only"), Ok(Some("b".to_owned())));
        assert_eq!(given.text("--only"), Ok(None));
        assert!(given.flag("--quick"));
        assert!(!given.flag("--quick"));
        assert_eq!(given.word().as_deref(), Some("json"));
        assert_eq!(given.finish(), Ok(()));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let usage = |message: &str| Failure::Usage(message.to_owned());
        assert_eq!(arguments("--qick").finish(), Err(usage("`--qick` means nothing here")));
        for line in ["--seconds", "--seconds soon", "--seconds -1"] {
            let wrong = arguments(line).number("--seconds");
            assert_eq!(wrong, Err(usage("`--seconds` wants a whole number after it")));
        }
        for line in ["--only", "--only --quick"] {
            assert_eq!(arguments(line).text("--only"), Err(usage("`--only` wants a word after it")));
        }
    }
}
