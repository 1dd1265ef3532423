//! `.env` files: variables that need not be set each time.
//!
//! ```text
//! # a comment
//! OPENAI_API_KEY=sk-…
//! export GREETING="two words\nand a line"   # another comment
//! LITERAL='nothing $is \special here'
//! ```
//!
//! Nothing is substituted, and a line that is no assignment is skipped: such files are shared with programs that understand more. The
//! environment of the process wins; see [`Environment`].

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::provider;

/// The variables of a `.env` text, in order. A name that comes twice has its last value last.
pub fn dotenv(text: &str) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let line_end = rest.find('\n').map_or(rest.len(), |it| it + 1);
        let Some((name, after)) = name(rest, line_end) else {
            rest = &rest[line_end..];
            continue;
        };
        let (value, after) = value(after);
        variables.push((name.to_owned(), value));
        rest = after.find('\n').map_or("", |it| &after[it + 1..]);
    }
    variables
}

/// Where variables come from: the process first, `.env` files after it.
///
/// A `.env` belongs to a project, and the keys of the process belong to the user. So that a project cannot send a key of the user elsewhere, a file may
/// choose an address (`OPENAI_BASE_URL`) only for keys that it has itself, and never a proxy.
#[derive(Clone, Default)]
pub struct Environment {
    process: Vec<(String, String)>,
    files: Vec<File>,
    /// Files that were found and not read.
    foreign: Vec<PathBuf>,
    /// Where files were looked for, the nearest first.
    looked_for: Vec<PathBuf>,
}

/// A `.env` file.
#[derive(Clone)]
struct File {
    path: PathBuf,
    variables: Vec<(String, String)>,
}

/// A `.env` file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be read: {source}", path.display())]
pub struct DotenvError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Environment {
    /// An environment of the process's variables and those of a `.env` text.
    pub fn new(process: impl IntoIterator<Item = (String, String)>, file: &str) -> Environment {
        let file = File { path: PathBuf::from(NAME), variables: dotenv(file) };
        Environment { process: process.into_iter().collect(), files: vec![file], ..Environment::default() }
    }

    /// The process's variables, and those of the `.env` beside a suite, above it up to the root of its project or repository, and in the current
    /// directory.
    ///
    /// # Errors
    /// When there is such a file, and it cannot be read.
    pub fn find(
        process: impl IntoIterator<Item = (String, String)>,
        suite: Option<&Path>,
        current: &Path,
    ) -> Result<Environment, DotenvError> {
        let mut environment = Environment { process: process.into_iter().collect(), ..Environment::default() };
        let above = suite.map(folders_of).unwrap_or_default();
        let mut seen: Vec<PathBuf> = Vec::new();
        for folder in above.into_iter().chain([current.to_owned()]) {
            let folder = folder.canonicalize().unwrap_or(folder);
            if !seen.contains(&folder) {
                environment.read(&folder)?;
                seen.push(folder);
            }
        }
        Ok(environment)
    }

    fn read(&mut self, folder: &Path) -> Result<(), DotenvError> {
        let path = folder.join(NAME);
        self.looked_for.push(path.clone());
        if !is_ours(&path) {
            self.foreign.push(path);
            return Ok(());
        }
        match fs::read_to_string(&path) {
            Ok(text) => self.files.push(File { path, variables: dotenv(&text) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(DotenvError { path, source }),
        }
        Ok(())
    }

    /// The value of a variable, or the answer to [`objection_to`].
    pub fn get(&self, name: &str) -> Option<String> {
        if let Some((address, secret)) = name.split_once(OBJECTION) {
            return self.objection(address, secret);
        }
        let in_file =
            || self.files.iter().filter(|it| self.may_set(it, name)).find_map(|it| found(&it.variables, name));
        found(&self.process, name).or_else(in_file).map(str::to_owned)
    }

    /// Where `.env` files were looked for, the nearest first, as a user in the current directory would write it.
    pub fn looked_for(&self) -> Vec<PathBuf> {
        let here = std::env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
        let shown = |it: &PathBuf| it.strip_prefix(&here).unwrap_or(it).to_owned();
        self.looked_for.iter().map(shown).collect()
    }

    /// Why a secret must not be sent to the address in a variable: a file chose the address, and the secret is not from that file.
    fn objection(&self, address: &str, secret: &str) -> Option<String> {
        let of_file = |it: &&File| found(&it.variables, address).is_some() && self.may_set(it, address);
        let file = self.files.iter().find(of_file).filter(|_| found(&self.process, address).is_none())?;
        let is_foreign = self.source_of(secret).is_some_and(|it| it != Some(&file.path));
        is_foreign.then(|| {
            let path = file.path.display();
            format!(
                "`{address}` in `{path}` would receive the value of `{secret}`, which is not from that file; set both in that \
                 file, or `{address}` in the environment"
            )
        })
    }

    /// What was found in `.env` files and is not used, and why.
    pub fn notes(&self) -> Vec<String> {
        let foreign =
            self.foreign.iter().map(|it| format!("`{}` belongs to another user and is not read", it.display()));
        let set = self.files.iter().flat_map(|file| file.variables.iter().map(move |(name, _)| (file, name)));
        let unused = set.filter(|(file, name)| found(&self.process, name).is_none() && !self.may_set(file, name));
        let mut notes: Vec<String> = foreign.chain(unused.map(|(file, name)| unused_note(file, name))).collect();
        notes.dedup();
        notes
    }

    /// Whether a file may choose the value of a variable.
    fn may_set(&self, file: &File, name: &str) -> bool {
        if is_proxy(name) {
            return false;
        }
        let is_foreign = |key: &String| self.source_of(key).is_some_and(|it| it != Some(&file.path));
        !keys_of_address(name).iter().any(is_foreign)
    }

    /// The file that a variable comes from, or the process; `None` when it is nowhere.
    fn source_of(&self, name: &str) -> Option<Option<&Path>> {
        if found(&self.process, name).is_some() {
            return Some(None);
        }
        self.files.iter().find(|it| found(&it.variables, name).is_some()).map(|it| Some(it.path.as_path()))
    }
}

/// Stands between two names in [`objection_to`]. No variable has it in its name.
const OBJECTION: char = '\0';

/// The name under which an [`Environment`] says why a secret must not be sent to the address in a variable. Environments are passed as functions from names to
/// values, so this question is a name too; other environments have no value for it, and object to nothing.
pub(crate) fn objection_to(address: &str, secret: &str) -> String {
    format!("{address}{OBJECTION}{secret}")
}

/// What such a file is called.
const NAME: &str = ".env";

fn found<'v>(variables: &'v [(String, String)], name: &str) -> Option<&'v str> {
    variables.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
}

fn is_proxy(name: &str) -> bool {
    name.to_ascii_uppercase().ends_with("_PROXY")
}

/// The variables with the keys that are sent to the address in a variable; none when it holds no address.
fn keys_of_address(name: &str) -> Vec<String> {
    if name == "JURAT_SHARED_JOURNAL" {
        return vec!["PGPASSWORD".to_owned()];
    }
    let Some(prefix) = name.strip_suffix("_BASE_URL") else { return Vec::new() };
    let mut keys: Vec<String> = provider::keys_sent_to(name).iter().map(|&it| it.to_owned()).collect();
    keys.push(format!("{prefix}_API_KEY"));
    keys
}

fn unused_note(file: &File, name: &str) -> String {
    let path = file.path.display();
    if is_proxy(name) {
        return format!(
            "`{name}` in `{path}` is not used: a file of a project chooses no proxy; set it in the environment"
        );
    }
    let keys = keys_of_address(name);
    let key = keys.first().map_or("", String::as_str);
    format!(
        "`{name}` in `{path}` is not used: the key in `{key}` is not from that file, and would be sent to its address; set both \
         in that file, or `{name}` in the environment"
    )
}

/// The folder of a suite and those above it, up to the root of its project or repository. Without a root it is the folder of the suite alone: what
/// stands further up belongs to nothing that the suite belongs to.
fn folders_of(suite: &Path) -> Vec<PathBuf> {
    let folder = suite.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_root = |it: &&Path| it.join(".git").exists() || it.join(".jurat").exists();
    let n_folders = folder.ancestors().position(|it| is_root(&it)).map_or(1, |it| it + 1);
    folder.ancestors().take(n_folders).map(Path::to_owned).collect()
}

/// Whether a file is not another user's: its owner could choose our variables.
#[cfg(unix)]
fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let me = rustix::process::geteuid().as_raw();
    fs::metadata(path).map_or(true, |it| it.uid() == me || it.uid() == 0)
}

#[cfg(not(unix))]
fn is_ours(_: &Path) -> bool {
    true
}

/// Values may be secrets, so only names are shown.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |variables: &[(String, String)]| variables.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let files: Vec<_> = self.files.iter().map(|it| (&it.path, names(&it.variables))).collect();
        f.debug_struct("Environment").field("process", &names(&self.process)).field("files", &files).finish()
    }
}

/// The name that a line gives a value, and what stands after the `=`.
fn name(text: &str, line_end: usize) -> Option<(&str, &str)> {
    let at = text[..line_end].find('=')?;
    let name = text[..at].trim();
    let name = name.strip_prefix("export").filter(|it| it.starts_with([' ', '\t'])).map_or(name, str::trim);
    let is_name = |it: &str| {
        !it.starts_with(|it: char| it.is_ascii_digit())
            && it.chars().all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it))
    };
    (!name.is_empty() && is_name(name)).then_some((name, &text[at + 1..]))
}

/// A value and what stands after it. Quoted values may go over several lines.
fn value(text: &str) -> (String, &str) {
    let start = text.trim_start_matches([' ', '\t']);
    match start.chars().next() {
        Some('\'') => {
            if let Some(end) = start[1..].find('\'') {
                return (start[1..=end].to_owned(), &start[end + 2..]);
            }
        }
        Some('"') => {
            if let Some(quoted) = double_quoted(&start[1..]) {
                return quoted;
            }
        }
        _ => {}
    }
    let end = start.find(['\n', '\r']).unwrap_or(start.len());
    let line = &start[..end];
    let comment = line.char_indices().find(|(at, it)| *it == '#' && line[..*at].ends_with([' ', '\t']));
    let value = comment.map_or(line, |(at, _)| &line[..at]);
    let value = if line.starts_with('#') { "" } else { value };
    (value.trim_end().to_owned(), &start[end..])
}

fn double_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, it)) = characters.next() {
        match it {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other @ ('\\' | '"' | '$') => value.push(other),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, variables: &[(&str, &str)]) {
        let expected: Vec<_> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(dotenv(text), expected);
    }

    #[test]
    fn lines_are_assignments() {
        reads("A=1\nB = two words \r\n\n# C=3\nexport D=4", &[("A", "1"), ("B", "two words"), ("D", "4")]);
        reads("A=x # not this\nB=x#this\nC=#\nD=", &[("A", "x"), ("B", "x#this"), ("C", ""), ("D", "")]);
        reads("A='#1 $x \\n' # c\nB=\"#2 \\\"q\\\" \\n\\z\"", &[("A", "#1 $x \\n"), ("B", "#2 \"q\" \n\\z")]);
        reads("A=\"first\nsecond\"\nB=1", &[("A", "first\nsecond"), ("B", "1")]);
        reads("A=\"never closed\nB='nor this\nC=1", &[("A", "\"never closed"), ("B", "'nor this"), ("C", "1")]);
        reads("\u{feff}exported=1\nno assignment\n=x\n1A=2\na b=3\nexport=4", &[("exported", "1"), ("export", "4")]);
        reads("A=ä=b", &[("A", "ä=b")]);
    }

    #[test]
    fn the_process_wins() {
        let process = [("A".to_owned(), "process".to_owned())];
        let environment = Environment::new(process, "A=file\nB=file\nB=later");
        assert_eq!(environment.get("A").as_deref(), Some("process"));
        assert_eq!(environment.get("B").as_deref(), Some("later"));
        assert_eq!(environment.get("C"), None);
        assert!(!format!("{environment:?}").contains("process\""), "{environment:?}");
    }

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_file_chooses_an_address_only_for_keys_of_its_own() {
        let address = "OPENAI_BASE_URL=http://127.0.0.1:1/v1\n";
        let of_user = variables(&[("OPENAI_API_KEY", "sk-of-the-user")]);
        let redirected = Environment::new(of_user.clone(), address);
        assert_eq!(redirected.get("OPENAI_BASE_URL"), None);
        assert_eq!(
            redirected.notes(),
            [
                "`OPENAI_BASE_URL` in `.env` is not used: the key in `OPENAI_API_KEY` is not from that file, and would be sent \
                 to its address; set both in that file, or `OPENAI_BASE_URL` in the environment"
            ]
        );
        let both = format!("{address}OPENAI_API_KEY=sk-of-the-project");
        assert_eq!(
            Environment::new(of_user, &both).get("OPENAI_BASE_URL"),
            None,
            "the user's key wins, and would be sent"
        );
        for own in [both.as_str(), address] {
            let own = Environment::new([], own);
            assert_eq!(own.get("OPENAI_BASE_URL").as_deref(), Some("http://127.0.0.1:1/v1"));
            assert_eq!(own.notes(), Vec::<String>::new());
        }
        let gemini = variables(&[("GOOGLE_API_KEY", "of the user")]);
        let gemini = Environment::new(gemini, "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1");
        assert_eq!(gemini.get("GOOGLE_GEMINI_BASE_URL"), None);
    }

    #[test]
    fn a_file_chooses_no_proxy() {
        let environment = Environment::new([], "https_proxy=http://127.0.0.1:1\nALL_PROXY=x");
        assert_eq!((environment.get("https_proxy"), environment.get("ALL_PROXY")), (None, None));
        assert_eq!(environment.notes().len(), 2);
        let of_user = Environment::new(variables(&[("ALL_PROXY", "y")]), "ALL_PROXY=x");
        assert_eq!(of_user.get("ALL_PROXY").as_deref(), Some("y"));
        assert_eq!(of_user.notes(), Vec::<String>::new());
    }

    #[test]
    fn files_are_found_beside_the_suite_above_it_and_here() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("outside/project/suites/deep")).expect("folders can be made");
        fs::create_dir_all(at("outside/project/.git")).expect("folders can be made");
        fs::create_dir_all(at("here")).expect("folders can be made");
        for (file, text) in [
            ("outside/.env", "A=outside\nZ=outside"),
            ("outside/project/.env", "A=root\nB=root"),
            ("outside/project/suites/deep/.env", "A=beside"),
            ("here/.env", "A=here\nB=here\nC=here"),
        ] {
            fs::write(at(file), text).expect("files can be written");
        }
        let suite = at("outside/project/suites/deep/suite.yaml");
        let environment = Environment::find([], Some(&suite), &at("here")).expect("files can be read");
        let got = ["A", "B", "C", "Z"].map(|it| environment.get(it));
        assert_eq!(got.each_ref().map(Option::as_deref), [Some("beside"), Some("root"), Some("here"), None]);
        // Without a root nothing above is read.
        let alone = at("outside/suite.yaml");
        fs::create_dir_all(at("outside/lonely")).expect("folders can be made");
        let lonely = Environment::find([], Some(&at("outside/lonely/suite.yaml")), &at("outside/lonely"));
        assert_eq!(lonely.expect("files can be read").get("Z"), None);
        let environment = Environment::find([], Some(&alone), &at("here")).expect("files can be read");
        assert_eq!(environment.get("Z").as_deref(), Some("outside"));
    }
}
