//! Programs: where they are found, and what they need.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use jurat_host::program::{ProgramError, find};

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories can be made");
    fs::write(path, text).expect("files can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn a_package_is_needed_as_a_whole_with_its_interpreter() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = fs::canonicalize(folder.path()).expect("a path");
    let packages = at.join("tool/node_modules");
    program(&packages.join("agent/cli.js"), "#!/usr/bin/env node\n");
    fs::write(packages.join("agent/package.json"), r#"{"name": "agent", "version": "1.2.3"}"#).expect("written");
    fs::create_dir_all(packages.join(".bin")).expect("a directory");
    symlink("../agent/cli.js", packages.join(".bin/agent")).expect("a link");
    program(&at.join("node/bin/node"), "\x7fELF");
    let search = std::env::join_paths([packages.join(".bin"), at.join("node/bin")]).expect("paths");
    let found = find("agent", Path::new("/"), Some(&search)).expect("it is found");
    assert_eq!(found.path, packages.join(".bin/agent"));
    assert_eq!(found.version.as_deref(), Some("1.2.3"));
    assert_eq!(found.read_only, [at.join("node"), packages.clone()]);
    assert!(found.search.contains(&at.join("node/bin")), "{:?}", found.search);
    let again = find("./node_modules/.bin/agent", &at.join("tool"), Some(&search)).expect("it is found by its path");
    assert_eq!(again.digest, found.digest);
}

#[test]
fn an_environment_of_python_is_needed_with_where_it_comes_from() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = fs::canonicalize(folder.path()).expect("a path");
    program(&at.join("base/bin/python3.11"), "\x7fELF");
    fs::create_dir_all(at.join("env/bin")).expect("a directory");
    fs::write(at.join("env/pyvenv.cfg"), format!("home = {}\n", at.join("base/bin").display())).expect("written");
    symlink(at.join("base/bin/python3.11"), at.join("env/bin/python")).expect("a link");
    program(&at.join("env/bin/agent"), &format!("#!{}\n", at.join("env/bin/python").display()));
    let found = find("bin/agent", &at.join("env"), None).expect("it is found");
    assert_eq!(found.read_only, [at.join("base"), at.join("env")]);
}

#[test]
fn what_is_nowhere_is_said_to_be() {
    let nowhere = find("no-such-agent", Path::new("/"), None);
    assert_eq!(nowhere, Err(ProgramError::NotFound("no-such-agent".to_owned())));
    let system = find("sh", Path::new("/"), None).expect("every system has it");
    assert_eq!(system.read_only, Vec::<PathBuf>::new());
}

#[test]
fn a_program_that_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::write(folder.path().join("plain.sh"), "#!/bin/sh\n").expect("files can be written");
    program(&folder.path().join("lost.sh"), "#!/nothing/here -x\n");
    program(&folder.path().join("named.sh"), "#!/usr/bin/env -S no-such-interpreter -x\n");
    for (name, why) in [
        ("./plain.sh", "`./plain.sh` is not executable: `chmod +x ./plain.sh` makes it so"),
        ("./lost.sh", "`./lost.sh` is a script for `/nothing/here` (its first line), and there is no such program"),
        (
            "./named.sh",
            "`./named.sh` is a script for `no-such-interpreter` (its first line), and there is no such program",
        ),
        ("./none.sh", "there is no program `./none.sh`"),
    ] {
        let error = find(name, folder.path(), None).expect_err("it cannot be started");
        assert_eq!(error.to_string(), why);
    }
}
