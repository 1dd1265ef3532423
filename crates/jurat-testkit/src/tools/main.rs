//! The program `jurat-tools`: a server with tools that talks over its standard input and output, and misbehaves as its arguments say.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use clap::Parser;
use jurat_testkit::tools::{Manners, Reply, Tools};
use serde_json::Value;

/// A server with tools for tests.
#[derive(Parser)]
#[command(name = "jurat-tools")]
struct Options {
    /// How many tools a page of them has
    #[arg(long)]
    page: Option<usize>,
    /// Every page names another one
    #[arg(long)]
    endless: bool,
    #[arg(long)]
    bare: bool,
    #[arg(long)]
    silent: bool,
    /// Has resources
    #[arg(long)]
    resources: bool,
    /// Has a tool `read_resource`
    #[arg(long)]
    reader: bool,
    /// Ends at once, after saying this on standard error
    #[arg(long, value_name = "TEXT")]
    last_words: Option<String>,
    /// Says this on standard output before anything else, which servers must not do
    #[arg(long, value_name = "TEXT")]
    greeting: Option<String>,
    /// Does not end when its input does
    #[arg(long)]
    lingers: bool,
    /// A file that gets a line for its start, with its process id, for each message, and for the end of its input
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let note = |line: &str| {
        if let Some(log) = &options.log {
            let mut file = OpenOptions::new().create(true).append(true).open(log).expect("the log can be written");
            // In one piece: several servers may write to one log.
            file.write_all(format!("{line}\n").as_bytes()).expect("the log can be written");
        }
    };
    note(&format!("start {}", std::process::id()));
    if let Some(words) = &options.last_words {
        eprintln!("{words}");
        return ExitCode::from(7);
    }
    if let Some(greeting) = &options.greeting {
        println!("{greeting}");
    }
    let manners = Manners {
        page: options.page,
        is_endless: options.endless,
        is_bare: options.bare,
        is_silent: options.silent,
        has_resources: options.resources,
        has_reader: options.reader,
    };
    let mut tools = Tools::new(manners);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        note(message["method"].as_str().unwrap_or("-"));
        match tools.take(&message) {
            Reply::Answer(answer) => println!("{answer}"),
            Reply::Messages(messages) => messages.iter().for_each(|it| println!("{it}")),
            Reply::Nothing => {}
            Reply::Die => {
                eprintln!("this is the end");
                return ExitCode::from(3);
            }
        }
    }
    note("end");
    if !options.lingers {
        return ExitCode::SUCCESS;
    }
    loop {
        thread::park();
    }
}
