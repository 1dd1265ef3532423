//! The command `jurat`: one file for each verb, and what their exit codes mean.
//!
//! It is a library so that the Python package has the same command: [`run`] takes the arguments and gives the exit code, and [`use_python`] says which interpreter it is a part of.

mod calibrate;
mod check;
mod compare;
mod completions;
mod coordinate;
mod count;
mod definition;
mod engine;
mod exit;
mod explain;
mod export;
mod failure;
mod format;
mod gate;
mod import;
mod init;
mod interrupt;
mod journal;
mod judges;
mod local;
mod merge;
mod models;
mod pack;
mod plan;
mod progress;
mod receive;
mod rendered_run;
mod results_file;
mod run;
mod run_arguments;
mod run_name;
mod schema;
mod several;
mod shard;
mod shards;
mod show;
mod unknown_verb;
mod usage;
mod variant;
mod view;
mod watch;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

pub use engine::use_python;

/// Tests language models, prompts and agents: write what should happen as data, see what passed, what failed and why.
#[derive(Parser)]
#[command(name = "jurat", version, after_help = exit::HELP)]
struct Jurat {
    #[command(subcommand)]
    verb: Verb,
    /// Colour the output
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = format::Color::Auto, global = true)]
    color: format::Color,
}

#[derive(Subcommand)]
enum Verb {
    Init(init::Init),
    Run(Box<run::Run>),
    Check(check::Check),
    Plan(plan::Plan),
    Models(models::Models),
    Show(show::Show),
    Explain(explain::Explain),
    View(view::View),
    Compare(Box<compare::Compare>),
    Gate(gate::Gate),
    Calibrate(Box<calibrate::Calibrate>),
    Export(export::Export),
    Import(import::Import),
    Receive(receive::Receive),
    Pack(pack::Pack),
    Shards(shards::Shards),
    Merge(merge::Merge),
    Coordinate(coordinate::Coordinate),
    Journal(journal::Journal),
    Judges(judges::Judges),
    Schema(schema::Schema),
    Completions(completions::Completions),
}

/// Runs the command with these arguments, the name of the program first, and returns its exit code. Code of evaluators runs where the process was
/// [set up to run it](jurat::serve_as_worker).
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let parsed = match Jurat::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) if unknown_verb::explain(&error).is_some() => return exit::Exit::Wrong.code(),
        Err(error) => return u8::try_from(usage::print(error)).unwrap_or(exit::Exit::Wrong.code()),
    };
    format::set_color(parsed.color);
    let exit = match parsed.verb {
        Verb::Init(init) => init.run(),
        Verb::Run(run) => run.run(),
        Verb::Check(check) => check.run(),
        Verb::Plan(plan) => plan.run(),
        Verb::Models(models) => models.run(),
        Verb::Show(show) => show.run(),
        Verb::Explain(explain) => explain.run(),
        Verb::View(view) => view.run(),
        Verb::Compare(compare) => compare.run(),
        Verb::Gate(gate) => gate.run(),
        Verb::Calibrate(calibrate) => calibrate.run(),
        Verb::Export(export) => export.run(),
        Verb::Import(import) => import.run(),
        Verb::Receive(receive) => receive.run(),
        Verb::Pack(pack) => pack.run(),
        Verb::Shards(shards) => shards.run(),
        Verb::Merge(merge) => merge.run(),
        Verb::Coordinate(coordinate) => coordinate.run(),
        Verb::Journal(journal) => journal.run(),
        Verb::Judges(judges) => judges.run(),
        Verb::Schema(schema) => schema.run(),
        Verb::Completions(completions) => completions.run(&mut Jurat::command()),
    };
    exit.code()
}
