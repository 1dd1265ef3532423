//! The project's own chores.

mod conformance;

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(2).collect();
    conformance::run(&args)
}
