//! Code that lies beside a suite, or that a suite names as its interpreter: `check` and `plan` never start it, and `run` starts it in the sandbox alone.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Ended, Folder, ended};

const SUITE: &str = "\
suite: s
records: [{ id: a, output: x }]
evaluators:
  e:
    INTERPRETER
    source: |
      def evaluate(output):
          return 1
tasks: [{ id: t, evaluate: e, field_path: score, operator: equals, expected_value: 1 }]
";

/// Python that leaves a mark with the key of the user, wherever it is run.
fn leaves_mark(folder: &Folder) -> String {
    format!("import os\nopen({:?}, 'a').write(str(os.environ.get('OPENAI_API_KEY')))\n", folder.path().join("MARK"))
}

/// A folder with the suite.
fn folder(interpreter: &str) -> Folder {
    let line = if interpreter.is_empty() { String::new() } else { format!("python: {interpreter}") };
    Folder::with("s.yaml", SUITE.replace("INTERPRETER", &line))
}

fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("modes can be set");
}

/// Adds a program that leaves a mark and then is Python.
fn and_script(folder: Folder, name: &str) -> Folder {
    let mark = folder.path().join("MARK");
    let text = format!("#!/bin/sh\necho ran >> '{}'\nexec python3 \"$@\"\n", mark.display());
    let folder = folder.and(name, text);
    make_executable(&folder.path().join(name));
    folder
}

fn command(folder: &Folder, verb: &str) -> Command {
    let mut command = folder.command();
    command.args([verb, "s.yaml"]).env("OPENAI_API_KEY", "sk-secret");
    command
}

/// Whether none of these verbs left a mark, with changes to the command.
#[track_caller]
fn leaves_nothing(folder: &Folder, verbs: &[&str], change: impl Fn(&mut Command)) -> Vec<Ended> {
    let ended = verbs.iter().map(|verb| {
        let mut command = command(folder, verb);
        change(&mut command);
        let ended = ended(&mut command);
        assert!(!folder.path().join("MARK").exists(), "{verb} ran it: {ended:?}");
        ended
    });
    ended.collect()
}

/// The interpreter itself, in case `python3` is a script that looks for one.
fn python() -> PathBuf {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let output = output.expect("tests need `python3`");
    String::from_utf8(output.stdout).expect("it is a path").trim().into()
}

#[test]
fn modules_in_the_current_directory_are_not_run() {
    for module in ["_json.py", "sitecustomize.py", "usercustomize.py", "os.py", "site.py", "encodings/__init__.py"] {
        let folder = folder("");
        let mark = leaves_mark(&folder);
        let folder = folder.and(module, mark);
        let ended = leaves_nothing(&folder, &["check", "plan", "run"], |_| ());
        assert!(ended.iter().all(|it| it.code == Some(0)), "{module}: {ended:?}");
    }
}

#[test]
fn variables_of_python_are_not_followed() {
    let folder = folder("");
    let mark = leaves_mark(&folder);
    let folder = folder.and("lib/_json.py", &mark).and("lib/sitecustomize.py", &mark).and("startup.py", &mark);
    let folder = folder.and("home/lib/python3/site-packages/usercustomize.py", &mark);
    let lib = folder.path().join("lib");
    let ended = leaves_nothing(&folder, &["check", "plan", "run"], |command| {
        command.env("PYTHONPATH", &lib).env("PYTHONSTARTUP", folder.path().join("startup.py"));
        command.env("PYTHONUSERBASE", folder.path().join("home")).env("PYTHONINSPECT", "1");
    });
    assert!(ended.iter().all(|it| it.code == Some(0)), "{ended:?}");
}

#[test]
fn what_a_suite_names_as_python_is_not_started_by_check() {
    let folder = and_script(folder("./evil"), "evil/bin/python3");
    let ended = leaves_nothing(&folder, &["check", "plan", "run"], |_| ());
    // A script cannot be started in the sandbox, and is started nowhere else.
    assert_eq!(ended[2].code, Some(2), "{ended:?}");
    assert!(
        ended[2].stderr.contains("evil/bin/python3` is a script; name the interpreter that it starts"),
        "{ended:?}"
    );
}

#[test]
fn programs_of_the_search_path_that_lie_in_the_project_are_not_started_by_check() {
    let path = std::env::var("PATH").expect("there is a search path");
    for first in [".", "", "./bin", "bin"] {
        let folder = and_script(and_script(folder(""), "python3"), "bin/python3");
        let ended = leaves_nothing(&folder, &["check", "plan", "run"], |command| {
            command.env("PATH", format!("{first}:{path}"));
        });
        assert!(ended.iter().all(|it| it.code == Some(0)), "{first}: {ended:?}");
    }
    // An absolute entry is the user's own doing; `check` passes over it all the same.
    let folder = and_script(folder(""), "bin/python3");
    let bin = folder.path().join("bin");
    leaves_nothing(&folder, &["check", "plan"], |command| {
        command.env("PATH", format!("{}:{path}", bin.display()));
    });
}

/// A virtual environment whose packages run code when an interpreter starts.
fn environment(folder: Folder, mark: &str) -> Folder {
    let python = python();
    let home = python.parent().expect("it lies in a folder").display().to_string();
    let output = Command::new(&python).args(["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).output();
    let version = String::from_utf8(output.expect("it starts").stdout).expect("it is text").trim().to_owned();
    let packages = format!("venv/lib/python{version}/site-packages");
    let line = mark.replace('\n', ";").trim_end_matches(';').to_owned();
    let folder = folder
        .and("venv/pyvenv.cfg", format!("home = {home}\ninclude-system-site-packages = false\nversion = {version}.0\n"))
        .and(&format!("{packages}/evil.pth"), format!("import os;{line}\n"))
        .and(&format!("{packages}/sitecustomize.py"), mark);
    fs::create_dir_all(folder.path().join("venv/bin")).expect("folders can be made");
    symlink(&python, folder.path().join("venv/bin/python3")).expect("links can be made");
    folder
}

#[test]
fn packages_of_an_environment_run_in_the_sandbox_alone() {
    for named in ["./venv", "venv", "./venv/bin/python3"] {
        let folder = folder(named);
        let mark = leaves_mark(&folder);
        let folder = environment(folder, &mark);
        let ended = leaves_nothing(&folder, &["check", "plan", "run"], |_| ());
        assert!(ended.iter().all(|it| it.code == Some(0)), "{named}: {ended:?}");
    }
}

#[test]
fn an_environment_whose_home_is_elsewhere_is_not_started_by_check() {
    let folder = and_script(folder("./venv"), "elsewhere/python3");
    let home = folder.path().join("elsewhere");
    let folder = folder.and("venv/pyvenv.cfg", format!("home = {}\nversion = 3.11.2\n", home.display()));
    fs::create_dir_all(folder.path().join("venv/bin")).expect("folders can be made");
    symlink(home.join("python3"), folder.path().join("venv/bin/python3")).expect("links can be made");
    leaves_nothing(&folder, &["check", "plan", "run"], |_| ());
}

#[test]
fn an_environment_cannot_open_the_files_of_the_user_to_evaluators() {
    let outside = Folder::with("secret.txt", "the user's own");
    let folder = folder("./venv");
    let folder = environment(folder, "");
    let packages = fs::read_dir(folder.path().join("venv/lib")).expect("it is there").next();
    let packages = packages.expect("it has one").expect("it can be read").path().join("site-packages");
    fs::write(packages.join("evil.pth"), format!("{}\n", outside.path().display())).expect("files can be written");
    let read = format!("return open({:?}).read()", outside.path().join("secret.txt"));
    let suite = fs::read_to_string(folder.path().join("s.yaml")).expect("it is there").replace("return 1", &read);
    let folder = folder.and("s.yaml", suite);
    let ended = ended(&mut command(&folder, "run"));
    assert_eq!(ended.code, Some(3), "{ended:?}");
}

#[test]
fn check_parses_with_an_interpreter_of_the_same_version() {
    let folder = folder("./venv");
    let folder = environment(folder, "");
    let suite = fs::read_to_string(folder.path().join("s.yaml")).expect("it is there");
    // Something that only an interpreter finds.
    let folder = folder.and("s.yaml", suite.replace("return 1", "return 1\n          break"));
    let ended = leaves_nothing(&folder, &["check"], |_| ());
    assert_eq!(ended[0].code, Some(2), "{ended:?}");
    assert!(ended[0].stderr.contains("'break' outside loop"), "{ended:?}");
    let folder = folder.and("venv/pyvenv.cfg", "home = /nowhere/bin\nversion = 3.99.1\n");
    let ended = leaves_nothing(&folder, &["check"], |_| ());
    assert_eq!(ended[0].code, Some(0), "an interpreter of another version cannot tell: {ended:?}");
}
