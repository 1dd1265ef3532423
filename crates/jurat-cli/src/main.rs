//! The command `jurat`: one file for each verb, and what their exit codes mean.

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

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

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

fn main() -> ExitCode {
    // A worker is this program, started anew. That is nobody's verb, and it comes before anything else is set up.
    if std::env::args_os().nth(1).is_some_and(|it| it == jurat_sandbox::worker::WORD) {
        return jurat_sandbox::worker::main();
    }
    let exit = match Jurat::parse().verb {
        Verb::Init(init) => init.run(),
        Verb::Run(run) => run.run(),
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
    exit.into()
}
