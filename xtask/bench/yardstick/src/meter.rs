//! Runs a program and says what it cost.
//!
//! The kernel tells a parent how much processor time its children used and how much memory the largest of them held at its
//! peak. That peak starts at what the parent itself holds when it starts the child, so the parent must be a small program
//! that starts one child and ends: this one.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use serde_json::json;

use crate::Said;

/// Runs it to its end. Says how it ended, when it was started, and its time, processor time and peak of memory.
pub(crate) fn run(output: &Path, errors: &Path, program: &[&str]) -> Said {
    let [program, words @ ..] = program else { return Err("`meter` wants a program".into()) };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(File::create(output)?).stderr(File::create(errors)?);
    let started = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("cannot start `{program}`: {error}"))?;
    let wall = start.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds = |it: TimeVal| it.num_microseconds();
    Ok(json!({
        "ended": status.to_string(),
        "code": status.code(),
        "started_us": started.as_micros() as u64,
        "wall_us": wall.as_micros() as u64,
        "cpu_us": microseconds(usage.user_time()) + microseconds(usage.system_time()),
        "peak_kb": usage.max_rss(),
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn output_and_status_of_a_program_are_recorded() {
        let directory = tempfile::tempdir().unwrap();
        let (output, errors) = (directory.path().join("output"), directory.path().join("errors"));
        let said = run(&output, &errors, &["/bin/sh", "-c", "echo out; echo err >&2; exit 3"]).unwrap();
        assert_eq!((&said["code"], &said["ended"]), (&json!(3), &json!("exit status: 3")));
        assert!(said["peak_kb"].as_u64().is_some_and(|it| it > 100), "{said}");
        assert!(said["wall_us"].as_u64() > Some(0), "{said}");
        let read = |it: &Path| fs::read_to_string(it).unwrap();
        assert_eq!((read(&output), read(&errors)), ("out\n".to_owned(), "err\n".to_owned()));
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = run(Path::new("/dev/null"), Path::new("/dev/null"), &["no-such-program"]).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program`: "), "{error}");
    }
}
