//! The face for Rust programs, as a program uses it.

mod agents;
mod batches;
mod building;
mod evaluators;
mod examples;
mod functions;
mod named_functions;
mod queries;
mod results;
mod running;
mod scenarios;

/// A directory with a project of its own, so that a project of the machine's directory for temporary files is not used.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::TempDir::new().expect("the system has a place for temporary files");
    std::fs::create_dir(directory.path().join(".jurat")).expect("the directory is new and writable");
    directory
}
