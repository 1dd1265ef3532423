//! Where an interpreter is, found out from files alone: nothing is started here.
//!
//! What the search path of the user leads to is the user's own program. What a definition names may have come with the definition, so it is started
//! inside the sandbox only, and says nothing that widens the sandbox.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A version of Python: major and minor number.
pub(crate) type Version = (u32, u32);

/// A file that should be an interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) program: PathBuf,
    pub(crate) owner: Owner,
}

/// What decided that this program is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user, by the search path.
    User,
    /// The author of a definition, by a path.
    Definition,
}

impl Owner {
    /// A definition may name any program of the search path; only interpreters are started as the user would start them.
    fn of_name(name: &Path) -> Owner {
        let is_python = name.to_str().is_some_and(|it| it.starts_with("python"));
        if is_python { Owner::User } else { Owner::Definition }
    }
}

/// Where libraries are that any program may use, and what they read. What is not there does not matter.
const SYSTEM: [&str; 9] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf.d",
    "/nix/store",
];

/// Where programs are looked for when there is no search path.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Location {
    /// The interpreter that a definition asks for: a path, a bare name, or `python3`. Entries of the search path that are relative, or
    /// inside of `excluded`, are passed over.
    pub(crate) fn find(named: Option<&Path>, excluded: &[PathBuf]) -> Result<Location, String> {
        let name = named.unwrap_or(Path::new("python3"));
        if name.components().count() > 1 {
            let found = in_environment(name);
            let program = std::path::absolute(&found).unwrap_or_else(|_| found.clone());
            let location = Location { program, owner: Owner::Definition };
            return location.is_startable(&found).map(|()| location);
        }
        let search = std::env::var_os("PATH").unwrap_or_else(|| SYSTEM_PATH.into());
        Location::along(&search, name, excluded).ok_or_else(|| {
            let help = if named.is_none() { "; install Python, or name an interpreter with `python`" } else { "" };
            format!("`{}` cannot be started: there is no such program in PATH{help}", name.display())
        })
    }

    fn along(search: &OsStr, name: &Path, excluded: &[PathBuf]) -> Option<Location> {
        std::env::split_paths(search)
            .filter(|it| it.is_absolute() && !is_inside(it, excluded))
            .map(|it| it.join(name))
            .find(|it| is_program(it) && !is_inside(it, excluded))
            .map(|program| Location { program, owner: Owner::of_name(name) })
    }

    /// Whether it can be started, by its file. Messages name it as it was written.
    fn is_startable(&self, written: &Path) -> Result<(), String> {
        // `././venv`, a path of a definition in the current directory, is `./venv`.
        let written: PathBuf = written.components().collect();
        let shown = written.display();
        if !self.program.exists() {
            return Err(format!("`{shown}` cannot be started: there is no such file"));
        }
        if !is_program(&self.program) {
            return Err(format!("`{shown}` cannot be started: it is not an executable file"));
        }
        if self.is_script() {
            return Err(format!("`{shown}` is a script; name the interpreter that it starts"));
        }
        Ok(())
    }

    /// Whether another program reads it. The sandbox starts one program and no other.
    pub(crate) fn is_script(&self) -> bool {
        let mut first = [0; 2];
        fs::File::open(&self.program).and_then(|mut it| it.read_exact(&mut first)).is_ok() && &first == b"#!"
    }

    /// Its version, where its environment or the name of its file has it.
    pub(crate) fn version(&self) -> Option<Version> {
        let of_environment = || {
            let settings = Settings::read(&self.environment()?)?;
            let text = settings.get("version").or_else(|| settings.get("version_info"))?;
            version(text)
        };
        let of_file = || {
            let real = fs::canonicalize(&self.program).ok()?;
            version(real.file_name()?.to_str()?.strip_prefix("python")?)
        };
        of_environment().or_else(of_file)
    }

    /// What it has to read to start: the libraries of the system, and those of its installation.
    pub(crate) fn readable(&self) -> Vec<PathBuf> {
        let real = fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone());
        let installations = [installation(&self.program), installation(&real), self.home()];
        let mut readable: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        for prefix in installations.into_iter().flatten().filter(|it| it.parent().is_some()) {
            readable.extend(["lib", "lib64", "pyvenv.cfg"].map(|it| prefix.join(it)));
        }
        readable.push(real);
        readable.retain(|it| it.exists());
        readable
    }

    /// Whether what it says it reads may be read. An environment that came with a definition may not claim the files of the user: its own
    /// folder and the folder that holds it are enough, for packages that are installed in place.
    pub(crate) fn may_claim(&self, folder: &Path) -> bool {
        if self.owner == Owner::User {
            return true;
        }
        let Ok(folder) = fs::canonicalize(folder) else { return false };
        let around = self.environment().and_then(|it| fs::canonicalize(it).ok()?.parent().map(Path::to_owned));
        let around = around.filter(|it| it.parent().is_some());
        let allowed = self.readable().into_iter().filter_map(|it| fs::canonicalize(it).ok());
        allowed.chain(around).any(|it| folder.starts_with(it))
    }

    /// The folder of the virtual environment that it belongs to.
    fn environment(&self) -> Option<PathBuf> {
        installation(&self.program).filter(|it| it.join("pyvenv.cfg").is_file())
    }

    /// The installation that its virtual environment was made from.
    fn home(&self) -> Option<PathBuf> {
        let settings = Settings::read(&self.environment()?)?;
        let home = Path::new(settings.get("home")?);
        home.is_absolute().then(|| home.parent().map(Path::to_owned)).flatten()
    }
}

/// The folder above `bin`.
fn installation(program: &Path) -> Option<PathBuf> {
    program.parent()?.parent().map(Path::to_owned)
}

/// The interpreter of a virtual environment, when its folder was named.
fn in_environment(named: &Path) -> PathBuf {
    let candidates = [named.join("bin/python3"), named.join("bin/python")];
    if named.is_dir() {
        let found = candidates.iter().find(|it| it.exists());
        return found.cloned().unwrap_or_else(|| candidates[0].clone());
    }
    named.to_owned()
}

/// Whether a path is below one of these folders, as it is written or where its links lead.
fn is_inside(path: &Path, folders: &[PathBuf]) -> bool {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    folders.iter().any(|it| path.starts_with(it) || real.starts_with(it))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// `3.11.7` → `(3, 11)`
fn version(text: &str) -> Option<Version> {
    let mut numbers = text.trim().split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// What `pyvenv.cfg` says.
struct Settings(String);

impl Settings {
    fn read(environment: &Path) -> Option<Settings> {
        const LONGEST: u64 = 64 << 10;
        let file = fs::File::open(environment.join("pyvenv.cfg")).ok()?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(Settings(text))
    }

    fn get(&self, key: &str) -> Option<&str> {
        let pairs = self.0.lines().filter_map(|it| it.split_once('='));
        pairs.map(|(name, value)| (name.trim(), value.trim())).find(|(name, _)| *name == key).map(|(_, value)| value)
    }
}
