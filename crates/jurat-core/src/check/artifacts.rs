//! `output_artifact_present`, `workspace_file_present` and `openclaw_workspace_file_present`: the files that the run lists.

use std::sync::Arc;

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::Key;
use jurat_format::problem::{Problem, listed, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Spanned, Val, shown, shown_within};

use super::decision::{Decided, cannot_tell, mismatch, quoted};
use super::files::no_path;
use super::read::conflict;
use super::workspace::{self, Found, is_file, looks_of, outside, references, runner, seen_of};
use super::{Look, MOST_TEXT, Needs, Rule, Seen, folded, kind};
use crate::artifact::is_identifier;

const RELATIVE_PATH: Field<Spanned<String>> =
    Field::required("relative_path", shape::TEXT, "the end of its path in the workspace, by whole path components");
const CONTAINS: Field<String> =
    Field::optional("contains", shape::STRING, "a text that it contains, compared exactly").or_null();
const CONTAINS_ALL: Field<Vec<String>> =
    Field::optional("contains_all", shape::STRINGS, "texts that it contains, all of them, ignoring case and accents")
        .or_null();
const CONTAINS_ANY: Field<Vec<String>> = Field::optional(
    "contains_any",
    shape::STRINGS,
    "texts of which it contains at least one, ignoring case and accents",
)
.or_null();
const ARTIFACT_TYPE: Field<String> = Field::optional("artifact_type", shape::STRING, "its type").or_null();
const ARTIFACT_ID: Field<String> = Field::optional("artifact_id", shape::STRING, "its id").or_null();
const URI: Field<String> = Field::optional("uri", shape::STRING, "its URI").or_null();

kind! {
    OUTPUT_ARTIFACT_PRESENT = "output_artifact_present": "passes if the run lists a matching output artifact",
    keys: [ARTIFACT_TYPE.key, ARTIFACT_ID.key, URI.key],
    read: output_artifact_present,
    dimensions: ["task"],
    note: "One artifact must match all keys. The file itself need not exist.",
}

kind! {
    OPENCLAW_WORKSPACE_FILE_PRESENT = "openclaw_workspace_file_present": "passes if an output artifact of an OpenClaw run is this file",
    keys: [RELATIVE_PATH.key, CONTAINS.key, CONTAINS_ALL.key, CONTAINS_ANY.key],
    read: |reading, it| workspace_file_present(reading, it, Some("openclaw")),
    dimensions: [],
    note: "An artifact is that file when its `metadata.workspace_relative_path` is equal, or when the path of its file ends so, by whole names. `contains` excludes the other two; one file must match all of them. The first 512,000 bytes are read. Fails for runs of others than OpenClaw.",
}

kind! {
    WORKSPACE_FILE_PRESENT = "workspace_file_present": "passes if an output artifact of the run is this file",
    keys: [RELATIVE_PATH.key, CONTAINS.key, CONTAINS_ALL.key, CONTAINS_ANY.key],
    read: |reading, it| workspace_file_present(reading, it, None),
    dimensions: [],
}

/// Whether the run lists an output artifact like this.
#[derive(Debug)]
struct OutputArtifactPresent {
    artifact_type: Option<String>,
    artifact_id: Option<String>,
    uri: Option<String>,
}

impl Rule for OutputArtifactPresent {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let wanted = [("artifact_type", &self.artifact_type), ("artifact_id", &self.artifact_id), ("uri", &self.uri)];
        is_listed(evidence, &wanted)
    }

    fn artifact_type(&self) -> Option<&str> {
        self.artifact_type.as_deref()
    }
}

/// Whether an output artifact is this file of the workspace.
#[derive(Debug)]
struct WorkspaceFilePresent {
    /// The end of its path, `/` between names and none at the beginning.
    relative_path: String,
    content: ContentRule,
    /// The runner that the check is for; every runner when `None`.
    runner: Option<&'static str>,
}

impl Rule for WorkspaceFilePresent {
    fn needs(&self) -> Needs<'_> {
        Needs::Files
    }

    fn looks(&self, evidence: &Val<'_>) -> Vec<Look> {
        match is_for(self.runner, evidence) {
            true => references(evidence).iter().flat_map(|it| looks_of(it, MOST_TEXT)).collect(),
            false => Vec::new(),
        }
    }

    fn decide(&self, evidence: &Val<'_>, seen: &[Seen]) -> Decided {
        is_present(evidence, &self.relative_path, &self.content, self.runner, seen)
    }
}

/// What a file must contain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum ContentRule {
    /// Anything.
    #[default]
    Any,
    /// This, letter by letter.
    Exactly(String),
    /// These, without regard to case and accents.
    Folded {
        all: Vec<String>,
        /// One of these, when there are any.
        any: Option<Vec<String>>,
    },
}

fn output_artifact_present(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let fields_of_artifacts = [&ARTIFACT_TYPE, &ARTIFACT_ID, &URI];
    let [artifact_type, artifact_id, uri] = fields_of_artifacts.map(|it| fields.read(reading, it));
    if !fields_of_artifacts.iter().any(|it| fields.node(&it).is_some() || fields.may_mean(*it)) {
        let message = "`output_artifact_present` needs `artifact_type`, `artifact_id` or `uri`";
        let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "which one?");
        reading.problem(problem.help("for example `artifact_type: openclaw_key_output`"));
        return None;
    }
    let not_identifier = |key: &Key| {
        let node = fields.node(key)?;
        let text = node.as_str().filter(|it| !is_identifier(it))?;
        let shown = shown_within(&Val::from(text), 40);
        let message = format!("no run has an artifact whose `{}` is {shown}", key.name);
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "never there");
        Some(problem.help("it has lower-case letters, digits, `_` and `-`, such as `codex_key_output`; a file is checked with `workspace_file_present`"))
    };
    let wrong: Vec<Problem> = [ARTIFACT_TYPE.key, ARTIFACT_ID.key].iter().filter_map(not_identifier).collect();
    wrong.into_iter().for_each(|it| reading.problem(it));
    Some(Arc::new(OutputArtifactPresent { artifact_type, artifact_id, uri }))
}

fn workspace_file_present(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    runner: Option<&'static str>,
) -> Option<Arc<dyn Rule>> {
    let path = fields.read(reading, &RELATIVE_PATH);
    let plain = path.as_ref().map(|it| it.value.replace('\\', "/").trim_start_matches('/').to_owned());
    if let Some((path, plain)) = path.as_ref().zip(plain.as_deref()) {
        refuse_no_file(reading, path, plain);
    }
    reading.problems_of(fields.node(&RELATIVE_PATH).and_then(|it| no_path(&RELATIVE_PATH.key.quoted(), it)));
    let exactly = fields.read(reading, &CONTAINS);
    let (all, any) = (fields.read(reading, &CONTAINS_ALL), fields.read(reading, &CONTAINS_ANY));
    for other in [CONTAINS_ALL.key, CONTAINS_ANY.key] {
        if fields.node(&CONTAINS).is_some() && fields.node(&other).is_some() {
            let help = "`contains` matches letter by letter, the others without regard to case and accents";
            conflict(reading, fields, (&CONTAINS.key, &other), help);
        }
    }
    let content = match (exactly, all, any) {
        (Some(text), ..) => ContentRule::Exactly(text),
        (None, None, None) => ContentRule::Any,
        (None, all, any) => {
            ContentRule::Folded { all: all.unwrap_or_default(), any: any.filter(|it: &Vec<String>| !it.is_empty()) }
        }
    };
    Some(Arc::new(WorkspaceFilePresent { relative_path: plain?, content, runner }))
}

/// Refuses a path that cannot be that of a file in the workspace: `/`, `out/`, `../x`.
fn refuse_no_file(reading: &mut Reading<'_>, path: &Spanned<String>, plain: &str) {
    let last = plain.rsplit('/').next().unwrap_or_default();
    let (message, label) = match last {
        _ if path.value.is_empty() => ("`relative_path` must not be empty".to_owned(), "empty"),
        _ if plain.split('/').any(|it| it == "..") => {
            let message =
                format!("`relative_path` must be a path inside the workspace, and `{}` leads out of it", path.value);
            (message, "never there")
        }
        "" | "." => (format!("`relative_path` must name a file, and `{}` names none", path.value), "no file"),
        _ => return,
    };
    let problem = Problem::new(&codes::WRONG_VALUE, message).at(path.span, label);
    reading.problem(problem.help("for example `relative_path: report.md`"));
}

fn is_for(wanted: Option<&str>, evidence: &Val<'_>) -> bool {
    wanted.is_none_or(|it| it == runner(evidence))
}

fn is_listed(evidence: &Val<'_>, wanted: &[(&str, &Option<String>)]) -> Decided {
    if evidence.get("identity").is_none() {
        return Err(cannot_tell("the evidence is no run of an agent: it has no `output_artifacts`"));
    }
    let fits = |reference: &Val<'_>| {
        let has = |(key, wanted): &(&str, &Option<String>)| {
            wanted.as_deref().is_none_or(|it| reference.get(key).and_then(Val::as_str) == Some(it))
        };
        wanted.iter().all(has)
    };
    let references = references(evidence);
    if references.iter().any(fits) {
        return Ok(None);
    }
    let wanted: Vec<String> =
        wanted.iter().filter_map(|(key, it)| it.as_ref().map(|it| format!("`{key}: {it}`"))).collect();
    let id = |it: &Val<'_>| it.get("artifact_id").map(shown).unwrap_or_default();
    let found = match references {
        [] => "none".to_owned(),
        some => some.iter().take(8).map(id).collect::<Vec<_>>().join(", "),
    };
    Ok(Some(mismatch(format!("an output artifact with {}", wanted.join(" and ")), found)))
}

fn is_present(
    evidence: &Val<'_>,
    relative_path: &str,
    content: &ContentRule,
    for_runner: Option<&'static str>,
    seen: &[Seen],
) -> Decided {
    if evidence.get("identity").is_none() {
        return Err(cannot_tell("the evidence is no run of an agent: it has no `output_artifacts`"));
    }
    let expected = || match content {
        ContentRule::Any => format!("a workspace file `{relative_path}`"),
        ContentRule::Exactly(text) => format!("a workspace file `{relative_path}` with {}", shown(&Val::from(&**text))),
        ContentRule::Folded { all, any } => {
            let all = (!all.is_empty()).then(|| listed_all(all.iter().map(String::as_str)));
            let any = any.as_ref().map(|it| listed(it.iter().map(String::as_str)));
            let parts: Vec<String> = all.into_iter().chain(any).collect();
            format!("a workspace file `{relative_path}` with {}", parts.join(", and with "))
        }
    };
    if let Some(wanted) = for_runner.filter(|_| !is_for(for_runner, evidence)) {
        return Ok(Some(mismatch(format!("a run of `{wanted}`"), format!("one of {}", quoted(runner(evidence))))));
    }
    let all: Vec<&Val<'_>> = references(evidence).iter().collect();
    let seen = seen_of(&all, MOST_TEXT, seen);
    let files: Vec<&(&Val<'_>, Option<&Seen>)> =
        seen.iter().filter(|(reference, seen)| is_file(reference, *seen, relative_path)).collect();
    if files.iter().any(|(_, seen)| content.holds(workspace::text(*seen))) {
        return Ok(None);
    }
    // A run that recorded its workspace needs no disk.
    if for_runner.is_none() && files.is_empty() && evidence.get("workspace").and_then(|it| it.get("files")).is_some() {
        return recorded_file_present(evidence, relative_path, content, &expected());
    }
    outside(&seen)?;
    let found = match files.as_slice() {
        [] if seen.is_empty() => "no output artifact".to_owned(),
        [] => "no such file among the output artifacts".to_owned(),
        files => {
            let is_cut = files.iter().any(|(_, seen)| seen.and_then(Seen::file).is_some_and(|it| it.is_cut));
            let unread = files.iter().find_map(|(_, seen)| seen.and_then(Seen::file)?.unread.clone());
            match (unread, is_cut) {
                (Some(reason), _) => format!("a file that cannot be read: {reason}"),
                (None, true) => format!("a file without that in its first {MOST_TEXT} bytes"),
                (None, false) => "a file without that".to_owned(),
            }
        }
    };
    Ok(Some(mismatch(expected(), found)))
}

/// The same of a run that recorded every file of its workspace.
fn recorded_file_present(evidence: &Val<'_>, path: &str, content: &ContentRule, expected: &str) -> Decided {
    let files = evidence.get("workspace").and_then(|it| it.get("files")).and_then(Val::as_map);
    let ends = |it: &&str| workspace::ends_with(it, path);
    let files: Vec<&str> = files.map(|it| it.keys().filter(ends).collect()).unwrap_or_default();
    for path in &files {
        match workspace::find(evidence, path, &[]) {
            Found::File { .. } if *content == ContentRule::Any => return Ok(None),
            Found::File { text: Some(text), .. } if content.holds(&text) => return Ok(None),
            Found::File { text: None, .. } => {
                return Err(cannot_tell(format!("the text of `{path}` was not recorded, or is none")));
            }
            Found::Link(link) => return Ok(Some(mismatch(expected, link))),
            _ => {}
        }
    }
    let found = if files.is_empty() { "no such file" } else { "a file without that" };
    Ok(Some(mismatch(expected, found)))
}

impl ContentRule {
    /// Whether a text is as it should be.
    fn holds(&self, text: &str) -> bool {
        match self {
            ContentRule::Any => true,
            ContentRule::Exactly(wanted) => text.contains(wanted.as_str()),
            ContentRule::Folded { all, any } => {
                let text = folded(text);
                let has = |term: &String| text.contains(folded(term).as_str());
                all.iter().all(has) && any.as_ref().is_none_or(|it| it.iter().any(has))
            }
        }
    }
}
