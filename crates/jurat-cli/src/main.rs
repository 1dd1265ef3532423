//! The command `jurat`: one file for each verb, and what their exit codes mean.

mod check;
mod definition;
mod drawing;
mod duration;
mod exit;
mod explain;
mod failure;
mod format;
mod init;
mod interrupt;
mod progress;
mod run;
mod run_name;
mod saved;
mod schema;
mod show;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    Show(show::Show),
    Explain(explain::Explain),
    Schema(schema::Schema),
}

fn main() -> ExitCode {
    let exit = match Jurat::parse().verb {
        Verb::Init(init) => init.run(),
        Verb::Run(run) => run.run(),
        Verb::Check(check) => check.run(),
        Verb::Show(show) => show.run(),
        Verb::Explain(explain) => explain.run(),
        Verb::Schema(schema) => schema.run(),
    };
    exit.into()
}
