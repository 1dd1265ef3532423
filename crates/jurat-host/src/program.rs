//! Programs of agents: where one is, what it needs to run, and what it is known by.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use jurat_format::value::{Val, parse_json};

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProgram {
    pub path: PathBuf,
    /// What has to be there for it to run, beside the system: its installation, and that of its interpreter.
    pub read_only: Vec<PathBuf>,
    /// Where it looks for other programs before it looks where the system has them.
    pub search: Vec<PathBuf>,
    /// Its version, where its installation says.
    pub version: Option<String>,
    /// The BLAKE3 of its file, in hexadecimal digits.
    pub digest: String,
}

/// A program that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It is nowhere.
    #[error("there is no program `{0}`")]
    NotFound(String),
    /// It is a file without permission to execute it.
    #[error("`{0}` is not executable: `chmod +x {0}` makes it so")]
    NotExecutable(String),
    /// It is a script whose interpreter is nowhere.
    #[error("`{0}` is a script for `{1}` (its first line), and there is no such program")]
    NoInterpreter(String, String),
    /// It cannot be read.
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(String, String),
}

/// Where the system has programs, as an agent sees it.
pub const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How often one program may lead to another before it is a circle: links, and what scripts are read by.
const MOST_STEPS: usize = 16;

/// Finds a program: a path is relative to `folder`, a name is looked for along `search`.
pub fn find(name: &str, folder: &Path, search: Option<&OsStr>) -> Result<FoundProgram, ProgramError> {
    let path = located(name, folder, search).ok_or_else(|| absent(name, folder))?;
    if let Some(interpreter) = missing_interpreter(&path, search) {
        return Err(ProgramError::NoInterpreter(name.to_owned(), interpreter));
    }
    let unreadable = |error: io::Error| ProgramError::Unreadable(name.to_owned(), error.to_string());
    let real = fs::canonicalize(&path).map_err(unreadable)?;
    let digest = hash(&real).map_err(unreadable)?;
    let mut needs = Needs { read_only: BTreeSet::new(), search: Vec::new(), path: search };
    needs.program(&path, 0);
    Ok(FoundProgram {
        version: version(&real),
        path,
        read_only: outermost(needs.read_only),
        search: needs.search,
        digest,
    })
}

/// Why a program was not located.
fn absent(name: &str, folder: &Path) -> ProgramError {
    match name.contains('/') && folder.join(name).is_file() {
        true => ProgramError::NotExecutable(name.to_owned()),
        false => ProgramError::NotFound(name.to_owned()),
    }
}

/// What should read a script and is not there.
fn missing_interpreter(path: &Path, search: Option<&OsStr>) -> Option<String> {
    let interpreter = Interpreter::of(path)?;
    interpreter.located(search).is_none().then(|| interpreter.name().to_owned())
}

/// What the first line of a script says that reads it.
enum Interpreter {
    /// This file.
    At(String),
    /// What is found under this name.
    Named(String),
}

impl Interpreter {
    /// `None` for what is no script.
    fn of(path: &Path) -> Option<Interpreter> {
        let mut line = [0; 256];
        let n = File::open(path).and_then(|mut it| it.read(&mut line)).unwrap_or(0);
        let line = line[..n].split(|it| *it == b'\n').next().unwrap_or_default();
        let line = line.strip_prefix(b"#!").and_then(|it| std::str::from_utf8(it).ok())?;
        let mut words = line.split_whitespace();
        let first = words.next()?;
        if Path::new(first).file_name() != Some(OsStr::new("env")) {
            return Some(Interpreter::At(first.to_owned()));
        }
        words.find(|it| !it.starts_with('-') && !it.contains('=')).map(|it| Interpreter::Named(it.to_owned()))
    }

    fn name(&self) -> &str {
        let (Interpreter::At(name) | Interpreter::Named(name)) = self;
        name
    }

    fn located(&self, search: Option<&OsStr>) -> Option<PathBuf> {
        match self {
            Interpreter::At(path) => Some(PathBuf::from(path)).filter(|it| it.exists()),
            Interpreter::Named(name) => located(name, Path::new("/"), search),
        }
    }
}

fn located(name: &str, folder: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    if name.contains('/') {
        let path = std::path::absolute(folder.join(name)).ok()?;
        return is_program(&path).then_some(path);
    }
    let system = OsStr::new(SYSTEM_PATH);
    let folders = std::env::split_paths(search.unwrap_or(system));
    folders.filter(|it| it.is_absolute()).map(|it| it.join(name)).find(|it| is_program(it))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

struct Needs<'s> {
    read_only: BTreeSet<PathBuf>,
    search: Vec<PathBuf>,
    path: Option<&'s OsStr>,
}

impl Needs<'_> {
    /// Follows a program through links to its installation, and through the first line of a script to what reads it.
    fn program(&mut self, path: &Path, depth: usize) {
        if depth > MOST_STEPS {
            return;
        }
        if let Some(folder) = path.parent() {
            self.search_in(folder);
            self.need(folder, path);
        }
        if let Ok(leads) = fs::read_link(path) {
            let next = path.parent().unwrap_or(Path::new("/")).join(leads);
            if let Ok(next) = std::path::absolute(tidy(&next)) {
                self.program(&next, depth + 1);
            }
            return;
        }
        if let Ok(real) = fs::canonicalize(path) {
            self.need(real.parent().unwrap_or(Path::new("/")), &real);
        }
        if let Some(interpreter) = Interpreter::of(path).and_then(|it| it.located(self.path)) {
            self.program(&interpreter, depth + 1);
        }
    }

    fn search_in(&mut self, folder: &Path) {
        let is_of_system = std::env::split_paths(SYSTEM_PATH).any(|it| it == folder);
        if !is_of_system && !self.search.iter().any(|it| it == folder) {
            self.search.push(folder.to_owned());
        }
    }

    /// The installation that a program in a folder belongs to.
    fn need(&mut self, folder: &Path, program: &Path) {
        if is_of_system(folder) {
            return;
        }
        if let Some(packages) = above_packages(program) {
            self.read_only.insert(packages);
            return;
        }
        // `bin` of an environment, of an interpreter or of anything else that is installed as a whole; `shims` of what chooses between such.
        let is_part = folder.ends_with("bin") || folder.ends_with("shims");
        let whole = folder.parent().filter(|_| is_part).filter(|it| it.components().count() > 2);
        let Some(whole) = whole else {
            self.read_only.insert(program.to_owned());
            return;
        };
        self.read_only.insert(whole.to_owned());
        // An environment of Python says where its interpreter comes from.
        let settings = fs::read_to_string(whole.join("pyvenv.cfg")).unwrap_or_default();
        let home = settings.lines().find_map(|it| it.strip_prefix("home").map(|it| it.trim_start_matches([' ', '='])));
        if let Some(home) = home.map(|it| Path::new(it.trim())) {
            let whole = if home.ends_with("bin") { home.parent().unwrap_or(home) } else { home };
            if !is_of_system(whole) {
                self.read_only.insert(whole.to_owned());
            }
        }
    }
}

/// The directory that holds the outermost `node_modules` of a path.
fn above_packages(path: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let first = parts.iter().position(|it| it.as_os_str() == "node_modules")?;
    Some(parts[..=first].iter().collect())
}

/// Whether the system has it, so that it is there anyway.
fn is_of_system(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].iter().any(|it| path.starts_with(it))
}

/// Without what stands below something else that is there.
fn outermost(paths: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let is_below = |path: &PathBuf| paths.iter().any(|it| it != path && path.starts_with(it));
    paths.iter().filter(|it| !is_below(it)).cloned().collect()
}

/// `a/b/../c` → `a/c`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            Component::CurDir => {}
            part => tidy.push(part),
        }
    }
    tidy
}

/// The version that the package of a program has.
fn version(real: &Path) -> Option<String> {
    let package = real.ancestors().skip(1).take(4).map(|it| it.join("package.json")).find(|it| it.is_file())?;
    let text = fs::read_to_string(package).ok()?;
    let package = parse_json(&text).ok()?.value;
    package.get("version").and_then(Val::as_str).map(str::to_owned)
}
