//! Campaigns on disk: a suite of another program, with the cases, agents and profiles that belong to it by where they stand.
//!
//! The core reads files that are named; which ones belong together is a matter of directories, so it is settled here. What comes out is the text of a
//! definition with one section, `campaign`, that names them all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jurat_core::suite::MAX_BYTES;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Map, SourceId, Val, Value};
use jurat_format::yaml::read_tree;
use jurat_format::yaml_writer::yaml_text;

use crate::Disk;

/// A campaign that was found: a definition that is in no file, beside those that are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Campaign {
    /// Where the definition would stand.
    pub path: PathBuf,
    text: String,
}

/// The profiles of a campaign: ids, or paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profiles {
    /// How cases are run.
    pub run: Option<String>,
    /// How they are judged.
    pub evaluation: Option<String>,
}

/// Why a campaign cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// There is no such profile.
    #[error("there is no {what} `{name}`: `{}` does not exist", path.display())]
    NoProfile {
        what: &'static str,
        name: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The suite is jurat's own.
    #[error("`{}` is no suite of a campaign, so it has no profiles; put `evaluation` into it, and use the options of `run`", .0.display())]
    NotACampaign(PathBuf),
    /// A directory cannot be looked at.
    #[error("`{}` cannot be listed: {error}", path.display())]
    Directory {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

/// The name of the file that a campaign would be in.
const NAME: &str = "campaign.jurat.yaml";

impl Campaign {
    /// The campaign of a suite or of a single case; `None` when the file is neither.
    pub fn find(file: &Path, profiles: &Profiles) -> Result<Option<Campaign>, CampaignError> {
        let has_profiles = profiles.run.is_some() || profiles.evaluation.is_some();
        let (root, mut members) = match kind_of(file) {
            None if has_profiles => return Err(CampaignError::NotACampaign(file.to_owned())),
            None => return Ok(None),
            Some(Kind::Suite) => {
                let root = root_of(file, "suites", 1);
                let cases = cases(&root.join("cases"))?;
                let members = vec![("suite", named(&root, file)), ("cases", listed(&root, &cases))];
                (root, members)
            }
            Some(Kind::Case) => {
                let root = root_of(file, "cases", 4);
                let members = vec![("cases", listed(&root, &[file.to_owned()]))];
                (root, members)
            }
        };
        let agents = below(&root.join("agents"))?.into_iter().map(|it| it.join("agent.yaml"));
        let agents: Vec<PathBuf> = agents.filter(|it| it.is_file()).collect();
        if !agents.is_empty() {
            members.push(("agents", listed(&root, &agents)));
        }
        let wanted = [
            ("run_profile", "run profile", "run_profiles", profiles.run.as_deref()),
            ("evaluation_profile", "evaluation profile", "evaluation_profiles", profiles.evaluation.as_deref()),
        ];
        for (key, what, folder, name) in wanted {
            if let Some(name) = name {
                members.push((key, named(&root, &profile(&root, what, folder, name)?)));
            }
        }
        let section = Val::Map(members.into_iter().collect::<Map<'static>>());
        let text = yaml_text(&Val::Map([("campaign", section)].into_iter().collect::<Map<'static>>()));
        Ok(Some(Campaign { path: root.join(NAME), text }))
    }
}

impl Files for Campaign {
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        match path.file_name().is_some_and(|it| it == NAME) {
            true => Ok(self.text.clone().into_bytes()),
            false => Disk.read(path, limit),
        }
    }
}

enum Kind {
    Suite,
    Case,
}

/// The folder above the nearest one called `name`, of which the file may be `most` levels below; else its own folder. The current directory may be
/// one of them, so that it does not stand in the path.
fn root_of(file: &Path, name: &str, most: usize) -> PathBuf {
    let own = file.parent().unwrap_or(Path::new("")).to_owned();
    let whole = std::path::absolute(file).unwrap_or_default();
    let below = whole.ancestors().skip(1).take(most).position(|it| it.file_name().is_some_and(|it| it == name));
    below.map_or(own.clone(), |n_levels| (0..=n_levels).fold(own, |folder, _| above(&folder)))
}

fn above(folder: &Path) -> PathBuf {
    match (folder.file_name(), folder.parent()) {
        (Some(_), Some(parent)) => parent.to_owned(),
        _ => folder.join(".."),
    }
}

/// What a file is, by the keys that it has.
fn kind_of(file: &Path) -> Option<Kind> {
    let text = String::from_utf8(Disk.read(file, MAX_BYTES).ok()?).ok()?;
    let is_json = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    let tree = read_tree(&text, SourceId(0), is_json, &mut Vec::new())?;
    tree.get("schema_version")?;
    match (tree.get("suite_id"), tree.get("case_id")) {
        (Some(_), _) => Some(Kind::Suite),
        (None, Some(_)) => Some(Kind::Case),
        (None, None) => None,
    }
}

/// The files of cases: `*/test.yaml`, and one directory deeper.
fn cases(folder: &Path) -> Result<Vec<PathBuf>, CampaignError> {
    let mut files = Vec::new();
    for folder in below(folder)? {
        let deeper = below(&folder)?;
        for folder in [folder].into_iter().chain(deeper) {
            let file = folder.join("test.yaml");
            if file.is_file() {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// The directories in a directory, by name.
fn below(folder: &Path) -> Result<Vec<PathBuf>, CampaignError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CampaignError::Directory { path: folder.to_owned(), error }),
    };
    let paths = entries.filter_map(|it| it.ok().map(|it| it.path())).filter(|it| it.is_dir());
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    Ok(paths)
}

/// A profile: a path when it looks like one, else an id.
fn profile(root: &Path, what: &'static str, folder: &str, name: &str) -> Result<PathBuf, CampaignError> {
    let is_path =
        name.contains(['/', '\\']) || name.starts_with('.') || name.ends_with(".yaml") || name.ends_with(".yml");
    let path = if is_path { PathBuf::from(name) } else { root.join(folder).join(format!("{name}.yaml")) };
    if path.is_file() { Ok(path) } else { Err(CampaignError::NoProfile { what, name: name.to_owned(), path }) }
}

/// A file as the definition names it: relative to where that would stand.
fn named(root: &Path, file: &Path) -> Value {
    let real = || Some(file.canonicalize().ok()?.strip_prefix(root.canonicalize().ok()?).ok()?.to_owned());
    let relative = file.strip_prefix(root).map(Path::to_owned).ok().or_else(real);
    let named = relative.or_else(|| std::path::absolute(file).ok()).unwrap_or_else(|| file.to_owned());
    Val::from(named.display().to_string())
}

fn listed(root: &Path, files: &[PathBuf]) -> Value {
    files.iter().map(|it| named(root, it)).collect()
}
