//! What a chore is: a name, a few words, and a function of its arguments.

use std::process::ExitCode;

/// One chore.
pub struct Chore {
    /// What is typed after `cargo xtask`.
    pub name: &'static str,
    /// The arguments it takes, as usage texts write them.
    pub arguments: &'static str,
    /// What it does and what the arguments mean; may be several lines.
    pub about: &'static str,
    /// Does it.
    pub run: fn(Arguments) -> Result<(), Failure>,
}

impl Chore {
    /// Its paragraph of the usage text.
    pub fn usage(&self) -> String {
        let about: String = self.about.lines().map(|it| format!("      {it}\n")).collect();
        format!("  {} {}\n{about}", self.name, self.arguments)
    }
}

/// Why a chore failed.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// The arguments are wrong; the usage text helps.
    Usage(String),
    /// Something is wrong; the message says what to do about it.
    Failed(String),
    /// Something is wrong and was printed already; the exit code.
    Printed(i32),
}

impl Failure {
    /// A failure with a message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Failed(message.into())
    }

    /// What to print.
    pub fn message(&self) -> &str {
        match self {
            Failure::Usage(message) | Failure::Failed(message) => message,
            Failure::Printed(_) => "see above",
        }
    }
}

/// Prints why a chore failed, if it did, and says how the program ends.
pub fn exit_code(done: Result<(), Failure>, usage: &str) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Printed(code)) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(Failure::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            eprint!("error: {message}\n\n{usage}");
            ExitCode::from(2)
        }
    }
}

/// The whole of a program that is one chore.
pub fn only(run: fn(Arguments) -> Result<(), Failure>) -> ExitCode {
    let done = run(Arguments::of(std::env::args().skip(1)));
    exit_code(done, "`cargo xtask help` lists the arguments of each chore\n")
}

/// The words after the chore's name. A chore takes out what it knows and ends with [`words`](Self::words)
/// or [`finish`](Self::finish).
#[derive(Debug)]
pub struct Arguments(Vec<String>);

impl Arguments {
    /// The arguments as they were typed.
    pub fn of(words: impl IntoIterator<Item = String>) -> Arguments {
        Arguments(words.into_iter().collect())
    }

    /// Takes out a flag; says whether it was there.
    pub fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|it| it == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Takes out an option and the whole number that follows it.
    pub fn number(&mut self, name: &str) -> Result<Option<u64>, Failure> {
        let Some(at) = self.0.iter().position(|it| it == name) else { return Ok(None) };
        let number = self.0.get(at + 1).and_then(|it| it.parse().ok());
        let number = number.ok_or_else(|| Failure::Usage(format!("`{name}` wants a whole number after it")))?;
        self.0.drain(at..=at + 1);
        Ok(Some(number))
    }

    /// Takes out an option and the word that follows it.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let Some(at) = self.0.iter().position(|it| it == name) else { return Ok(None) };
        if self.0.get(at + 1).is_none_or(|it| it.starts_with('-')) {
            return Err(Failure::Usage(format!("`{name}` wants a word after it")));
        }
        Ok(self.0.drain(at..=at + 1).nth(1))
    }

    /// Takes out the first word that is not an option.
    pub fn word(&mut self) -> Option<String> {
        let at = self.0.iter().position(|it| !it.starts_with('-'))?;
        Some(self.0.remove(at))
    }

    /// All words that are left.
    pub fn words(self) -> Vec<String> {
        self.0
    }

    /// Fails on whatever was not taken out.
    pub fn finish(self) -> Result<(), Failure> {
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
