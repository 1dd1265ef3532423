//! `jurat-core`, and the crates below it, never touch the world.
//!
//! Their manifests keep other crates out, and this keeps the parts of `std` out that know files, network, environment,
//! processes, threads, the clock and the terminal. It reads names and does not follow them: somebody who wants to get
//! past it can. It is there for the `println!` that was meant to go away again.

use crate::repository;
use crate::tokens::{Path, Role, paths, tokens};

/// What may not be named, with everything inside it.
const WORLD: &[&[&str]] = &[
    &["std", "env"],
    &["std", "fs"],
    &["std", "io", "stderr"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "net"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["tokio"],
];

/// What may not be called: the clock, as the date library offers it.
const CLOCK: &[[&str; 2]] = &[["Timestamp", "now"], ["Zoned", "now"]];

/// The macros that print.
const PRINTING: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];

const REMEDY: &str = "pass in what the core needs, return what it concludes, and touch the world in a crate at the rim";

#[test]
fn the_core_never_touches_the_world() {
    repository::check(
        &repository::rust_files(&["crates/jurat-compare/src", "crates/jurat-core/src", "crates/jurat-format/src"]),
        complaints,
    );
}

/// What is wrong with a file of the core, each with its line.
fn complaints(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut complaints: Vec<String> = paths(&tokens).iter().filter_map(complaint).collect();
    let is_async = |it: &&str| matches!(*it, "async" | "await");
    complaints.extend(
        tokens.iter().filter(|it| is_async(&it.text)).map(|it| format!("{}: `{}`: {REMEDY}", it.line, it.text)),
    );
    complaints
}

fn complaint(path: &Path<'_>) -> Option<String> {
    let (line, name) = (path.line, path.segments.join("::"));
    let last = path.segments.last()?;
    if path.role == Role::Macro && PRINTING.contains(last) {
        return Some(format!("{line}: `{name}!` prints: {REMEDY}"));
    }
    if CLOCK.iter().any(|it| path.segments.ends_with(it)) {
        return Some(format!("{line}: `{name}` reads the clock: {REMEDY}"));
    }
    if WORLD.iter().any(|it| path.segments.starts_with(it)) {
        return Some(format!("{line}: `{name}` touches the world: {REMEDY}"));
    }
    // `use std::time;` makes `time::Instant` possible, which would not be noticed.
    let within = WORLD.iter().find(|it| path.role == Role::Imported && it.starts_with(&path.segments))?;
    Some(format!("{line}: `use {name}` lets `{}` in: import what is needed by its full name", within.join("::")))
}

#[track_caller]
fn caught(text: &str, complaint: &str) {
    let found = complaints(text);
    assert!(found.len() == 1 && found[0].starts_with(complaint), "{text}\n{found:#?}");
}

#[track_caller]
fn allowed(text: &str) {
    assert_eq!(complaints(text), Vec::<String>::new(), "{text}");
}

#[test]
fn names_of_the_world_are_caught() {
    caught("use std::fs;", "1: `std::fs` touches the world");
    caught("use std::fs::File as F;", "1: `std::fs::File` touches");
    caught("use ::std::net::TcpStream;", "1: `std::net::TcpStream` touches");
    caught("\n\nlet x = std::env::var(\"HOME\");", "3: `std::env::var` touches");
    caught(
        "use std::{\n    collections::HashMap,\n    process::{Command as C},\n};",
        "3: `std::process::Command` touches",
    );
    caught("use std::time::{Duration, Instant};", "1: `std::time::Instant` touches");
    caught("use std::io::{self, Write};", "1: `use std::io` lets `std::io::stderr` in");
    caught("fn f(x: std::thread::JoinHandle<()>) {}", "1: `std::thread::JoinHandle` touches");
    caught("tokio::spawn(x);", "1: `tokio::spawn` touches");
    caught("extern crate tokio;", "1: `tokio` touches");
    caught("async fn f() {}", "1: `async`");
}

#[test]
fn a_door_to_the_world_is_caught() {
    caught("use std::time;", "1: `use std::time` lets `std::time::Instant` in");
    caught("use std::time::*;", "1: `use std::time` lets");
    caught("use std::{self as s};", "1: `use std` lets `std::env` in");
    caught("use std as s;", "1: `use std` lets");
}

#[test]
fn printing_and_the_clock_are_caught() {
    caught("println!(\"{x}\");", "1: `println!` prints");
    caught("std::eprint! { \"\" }", "1: `std::eprint!` prints");
    caught("let now = jiff::Timestamp::now();", "1: `jiff::Timestamp::now` reads the clock");
    caught("let now = Zoned::now();", "1: `Zoned::now` reads the clock");
}

#[test]
fn what_is_not_the_world_is_allowed() {
    allowed("use std::{borrow::Cow, collections::{BTreeMap, btree_map::Entry}, fmt::{self, Write as _}};");
    allowed("use std::time::Duration; use std::io::Write; use std::sync::Arc;");
    allowed("// std::fs\n/* use std::net; */ /// println!(\"x\")\nlet x = \"std::fs println!()\";");
    allowed("let fs = env.process; self.thread.net(); crate::fs::read(x); let print = 1 + print;");
    allowed("env!(\"CARGO_PKG_VERSION\"); writeln!(out, \"x\"); thread_local!();");
    allowed("use jiff::{Timestamp, civil::Date}; Timestamp::from_second(1)");
}
