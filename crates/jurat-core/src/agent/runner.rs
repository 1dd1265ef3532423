//! The runners. Each kind of agent is an entry in a file of its own, and one line of [`super::RUNNERS`]: its name in suites, the schema, the reference, the
//! program that is looked for and how it is driven follow from the entry.

use std::fmt;

use super::launch::{Launch, ModelAt, TurnInput, Wire};
use super::turn_report::TurnReport;
use super::{RUNNERS, command, function};

/// A kind of agent.
pub struct Runner {
    /// The name that authors write.
    pub name: &'static str,
    pub performer: Performer,
    /// Whether a run may have several turns.
    pub takes_turns: bool,
    /// Whether it obeys `limits.turns`.
    pub limits_steps: bool,
    /// Whether it can use servers with tools.
    pub takes_servers: bool,
    /// Where its program looks for skills, relative to its home; `None` when it has no skills.
    pub skills: Option<&'static str>,
    /// The keys of an agent that only this runner has.
    pub keys: &'static [&'static str],
}

/// What performs the turns of a run.
pub enum Performer {
    /// A program that jurat knows.
    Program(Program),
    /// Any program that speaks the protocol of [`super::command`].
    Command,
    /// A function of the program that runs the suite.
    Function,
    /// A model with tools, asked by jurat itself.
    Model,
    /// Nothing: the artifact was recorded before.
    Recorded,
}

/// A program that jurat knows how to start and to read.
pub struct Program {
    /// Its usual name on `PATH`.
    pub name: &'static str,
    pub package: Package,
    /// The version that jurat is tested with.
    pub tested: &'static str,
    /// The format of its requests to its model.
    pub wire: Wire,
    pub launch: fn(&TurnInput<'_>, &ModelAt) -> Launch,
    pub read: fn(Printed<'_>) -> TurnReport,
    pub side_file: Option<SideFile>,
    /// Whether the usage that it reports in a turn is that of the whole session so far.
    pub counts_session: bool,
    /// The ids of calls that failed, from a request to its model, for a program that reports every result as a success.
    pub failed_calls: Option<fn(&str) -> Vec<String>>,
}

/// Where a program is installed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Package {
    Npm(&'static str),
    PyPi(&'static str),
}

impl Package {
    /// The command that installs it.
    pub fn installation(self) -> String {
        match self {
            Package::Npm(name) => format!("npm install -g {name}"),
            Package::PyPi(name) => format!("pip install {name}"),
        }
    }
}

/// A trace that a program writes beside its output; paths are relative to its home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideFile {
    /// A file that is read as it is.
    Text(&'static str),
    /// Such a file, and a log beside it.
    Logged { text: &'static str, log: &'static str },
    /// A transcript that grows from turn to turn, read as lines.
    Transcript(TranscriptFiles),
}

/// Where a transcript is, relative to the home of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptFiles {
    /// The SQLite database that has it.
    pub database: &'static str,
    /// The query for its events, in their order. An event is the first column that is not null: text, or a blob that zstd packed.
    pub query: &'static str,
    /// The folder of files of JSON lines, where there is no such database.
    pub folder: &'static str,
}

/// What a program left of a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Printed<'p> {
    pub stdout: &'p str,
    /// The text of its [`SideFile`], as far as it belongs to this turn.
    pub side: &'p str,
    /// The text of the log beside that, where there is one.
    pub log: &'p str,
    /// Whether its output is its final message, rather than events.
    pub is_text: bool,
}

impl Runner {
    /// Every runner by its name, as choices are read.
    pub const NAMED: [(&'static str, &'static Runner); RUNNERS.len()] = {
        let mut named = [("", RUNNERS[0]); RUNNERS.len()];
        let mut ix = 0;
        while ix < named.len() {
            named[ix] = (RUNNERS[ix].name, RUNNERS[ix]);
            ix += 1;
        }
        named
    };

    /// The runner of an agent that has a `command`.
    pub const COMMAND: &'static Runner = &command::RUNNER;

    /// The runner of an agent that has a `call`.
    pub const CALL: &'static Runner = &function::RUNNER;

    pub fn named(name: &str) -> Option<&'static Runner> {
        RUNNERS.iter().copied().find(|it| it.name == name)
    }

    /// The program that it starts, where jurat knows it.
    pub fn program(&self) -> Option<&Program> {
        match &self.performer {
            Performer::Program(program) => Some(program),
            Performer::Command | Performer::Function | Performer::Model | Performer::Recorded => None,
        }
    }

    /// The format of its requests to its model; `None` when it may use any, or sends none.
    pub fn wire(&self) -> Option<Wire> {
        self.program().map(|it| it.wire)
    }

    pub fn needs_model(&self) -> bool {
        matches!(self.performer, Performer::Program(_) | Performer::Model)
    }

    pub fn is_command(&self) -> bool {
        matches!(self.performer, Performer::Command)
    }

    pub fn is_function(&self) -> bool {
        matches!(self.performer, Performer::Function)
    }

    pub fn is_recorded(&self) -> bool {
        matches!(self.performer, Performer::Recorded)
    }

    /// Whether the usage that its program reports in a turn is that of the whole session so far.
    pub(super) fn counts_session(&self) -> bool {
        self.program().is_some_and(|it| it.counts_session)
    }

    /// How its program is started for a turn; `None` for runners that start none.
    pub fn launch(&self, input: &TurnInput<'_>, model: Option<&ModelAt>) -> Option<Launch> {
        if self.is_command() {
            return Some(command::launch(input, model));
        }
        // A message that begins like an option, or like the name of a file, would be taken for one.
        let message = match input.message.chars().next() {
            Some('-' | '@') => format!("\n{}", input.message),
            _ => input.message.to_owned(),
        };
        Some((self.program()?.launch)(&TurnInput { message: &message, ..*input }, model?))
    }

    /// What its program reported about a turn.
    pub fn read(&self, printed: Printed<'_>) -> TurnReport {
        let report = match &self.performer {
            Performer::Program(program) => (program.read)(printed),
            Performer::Command => command::read(printed),
            Performer::Function | Performer::Model | Performer::Recorded => TurnReport::default(),
        };
        report.finish()
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
