//! What to type instead of a command that does not exist: other tools call things differently.

use std::io::{self, Write};

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Names of commands in other tools, and what does the same here.
const ELSEWHERE: [(&[&str], &str); 10] = [
    (&["eval", "evaluate", "test", "exec", "start"], "`jurat run SUITE` runs a suite"),
    (
        &["ui", "web", "viewer", "serve", "report", "results", "open"],
        "`jurat view` opens runs in a browser, `jurat show` prints the last one, `jurat export -o results.csv` writes it to a file",
    ),
    (&["diff", "ab"], "`jurat compare BASE NEW` compares runs case by case"),
    (&["list", "ls", "logs", "log", "history", "runs"], "`jurat show --list` lists the runs"),
    (&["validate", "lint", "verify"], "`jurat check SUITE` reports everything that is wrong with a suite"),
    (&["new", "create", "setup"], "`jurat init` makes an example"),
    (&["cache", "clean", "clear"], "`jurat journal` looks at recorded answers and removes them"),
    (
        &["score", "rescore", "grade", "replay", "retry", "resume"],
        "`jurat run` resumes an interrupted run by itself; `jurat run --replay RUN` judges a run again",
    ),
    (&["dry-run", "dryrun", "estimate", "graph"], "`jurat plan SUITE` shows what would run"),
    (&["why", "inspect", "debug"], "`jurat explain CASE` says how a result came about"),
];

/// Prints what a command that does not exist is called here; `None` when the error is another one, or nothing is known of it.
pub(crate) fn explain(error: &Error) -> Option<()> {
    let ContextValue::String(verb) =
        error.get(ContextKind::InvalidSubcommand).filter(|_| error.kind() == ErrorKind::InvalidSubcommand)?
    else {
        return None;
    };
    let (_, advice) = ELSEWHERE.iter().find(|(names, _)| names.contains(&verb.to_lowercase().as_str()))?;
    // A terminal that is gone needs no advice.
    let _ = writeln!(
        io::stderr(),
        "error: there is no command `{verb}`\n\n  {advice}\n\nFor all commands, try `jurat --help`."
    );
    Some(())
}
