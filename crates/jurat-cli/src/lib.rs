//! The command `jurat`: one file for each verb, and what their exit codes mean.
//!
//! It is a library so that the Python package has the same command: [`run`] takes the arguments and gives the exit code.

mod asking;
mod check;
mod completions;
mod definition;
mod drawing;
mod exit;
mod explain;
mod export;
mod failure;
mod format;
mod init;
mod interrupt;
mod journal;
mod pack;
mod plan;
mod progress;
mod run;
mod run_name;
mod saved;
mod schema;
mod show;
mod variant;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use jurat_sandbox::Program;

/// Evaluates language models and agents: write down what should happen, see what did, and why.
#[derive(Parser)]
#[command(name = "jurat", version, after_help = exit::HELP)]
struct Jurat {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Init(init::Init),
    Run(run::Run),
    Check(check::Check),
    Plan(plan::Plan),
    Show(show::Show),
    Explain(explain::Explain),
    Export(export::Export),
    Pack(pack::Pack),
    Journal(journal::Journal),
    Schema(schema::Schema),
    Completions(completions::Completions),
}

/// Runs the command with these arguments, the name of the program first, and returns its exit code. `worker` is the program that runs the code of
/// evaluators, when there is one.
pub fn run(arguments: impl IntoIterator<Item = OsString>, worker: Option<Program>) -> u8 {
    let parsed = match Jurat::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Nobody may listen any more, and then nobody minds.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(exit::Exit::Wrong.code());
        }
    };
    let exit = match parsed.verb {
        Verb::Init(init) => init.run(),
        Verb::Run(run) => run.run(worker),
        Verb::Check(check) => check.run(),
        Verb::Plan(plan) => plan.run(),
        Verb::Show(show) => show.run(),
        Verb::Explain(explain) => explain.run(),
        Verb::Export(export) => export.run(),
        Verb::Pack(pack) => pack.run(),
        Verb::Journal(journal) => journal.run(),
        Verb::Schema(schema) => schema.run(),
        Verb::Completions(completions) => completions.run(&mut Jurat::command()),
    };
    exit.code()
}
