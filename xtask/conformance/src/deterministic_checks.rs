//! Deterministic checks: each case makes its files in a directory of its own, reads the check as a suite has it, and decides it.

use std::fs;
use std::path::{Path, PathBuf};

use jurat_compare::Judgement;
use jurat_core::check::{Check, Hook};
use jurat_core::evidence::run;
use jurat_core::plan::{Samples, examine};
use jurat_core::suite::{TaskKind, load};
use jurat_format::problem::Severity;
use jurat_format::value::{Map, Val, Value};
use jurat_host::HostFiles;
use jurat_host::hook::{self, Ender, HookCall};

use super::{Answer, Memory, compared, error, object, part, text_part};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let root = Scratch::new(text_part(case, "name")?)?;
    let input = filled(part(case, "input")?, &root.0.to_string_lossy());
    let home = match input.get("case_dir").and_then(Val::as_str) {
        Some(folder) => root.0.join(folder),
        None => root.0.clone(),
    };
    fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    make_files(&root.0, part(&input, "files")?)?;
    let got = decided(&input, &root.0, &home)?;
    Ok(compared(case, part(case, "expect")?, &got, |expected, got| expected == got))
}

fn decided(input: &Val<'_>, root: &Path, home: &Path) -> Result<Value, String> {
    let Some(check) = check(part(input, "check")?, home) else { return Ok(error("invalid_check")) };
    let Ok(evidence) = run::evidence(part(input, "artifact")?.clone()) else { return Ok(error("invalid_artifact")) };
    let allows = input.get("security_policy").and_then(|it| it.get("allow_local_python_hooks"));
    match check.hook() {
        Some(_) if allows != Some(&Val::Bool(true)) => return Ok(error("hook_disabled")),
        Some(hook) => return Ok(hooked(hook, &check, &evidence)),
        None => {}
    }
    let host_files = HostFiles { definition: check.home().to_owned(), run: root.to_owned() };
    Ok(match check.run(&evidence, &host_files) {
        Judgement::Passed => object([("passed", Val::Bool(true))]),
        Judgement::Failed(_) => object([("passed", Val::Bool(false))]),
        Judgement::Error(_) => error("check_error"),
    })
}

fn hooked(hook: &Hook, check: &Check, evidence: &Val<'_>) -> Value {
    let call = HookCall {
        hook: hook.clone(),
        artifact: evidence.to_json(),
        check_id: "c1".to_owned(),
        description: None,
        source: check.source.clone(),
        python: hook::interpreter(&|name| std::env::var(name).ok()),
        supervisor: Vec::new(),
        time_limit: hook::TIME_LIMIT,
    };
    match hook::call(&call, &Ender::new()) {
        Ok(answer) => object([("passed", Val::Bool(answer.passed))]),
        Err(_) => error("hook_error"),
    }
}

/// The check, read from a suite that has nothing else; `None` when it is refused.
fn check(definition: &Val<'_>, home: &Path) -> Option<Check> {
    let suite = Val::Map(
        [
            ("suite", Val::from("conformance")),
            ("records", [Val::Map([("id", Val::from("run"))].into_iter().collect())].into_iter().collect()),
            ("deterministic_checks", [definition.clone()].into_iter().collect()),
        ]
        .into_iter()
        .collect::<Map<'_>>(),
    );
    let loaded = load(&home.join("suite.json"), &Memory(suite.to_json()));
    let problems = loaded.problems.iter().cloned().chain(examine(&loaded.suite, &Samples::default()));
    if problems.into_iter().any(|it| it.severity() == Severity::Error) {
        return None;
    }
    match loaded.suite.tasks.first().map(|it| &it.kind) {
        Some(TaskKind::Check(check)) => Some((**check).clone()),
        _ => None,
    }
}

/// The value with `${ROOT}` filled in.
fn filled(value: &Val<'_>, root: &str) -> Value {
    match value {
        Val::Str(text) => Val::from(text.replace("${ROOT}", root)),
        Val::List(items) => items.iter().map(|it| filled(it, root)).collect(),
        Val::Map(map) => Val::Map(map.iter().map(|(key, it)| (key.to_owned(), filled(it, root))).collect()),
        other => other.clone().into_owned(),
    }
}

/// A directory that goes away with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Result<Scratch, String> {
        let name: String = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
        let path = std::env::temp_dir().join(format!("jurat-conformance-{}-{name}", std::process::id()));
        // A case that failed half way may have left it.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        path.canonicalize().map(Scratch).map_err(|error| error.to_string())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes what a case wants to be there, links last.
fn make_files(root: &Path, files: &Val<'_>) -> Result<(), String> {
    let files = files.as_map().ok_or("`files` is not an object")?;
    let (links, others): (Vec<_>, Vec<_>) = files.iter().partition(|(_, it)| it.get("symlink").is_some());
    for (name, content) in others.into_iter().chain(links) {
        let path = root.join(name);
        let parent = path.parent().unwrap_or(root);
        fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        let made = match content {
            Val::Str(text) => fs::write(&path, text.as_bytes()),
            _ if content.get("dir").is_some() => fs::create_dir_all(&path),
            _ => match (content.get("symlink"), content.get("base64"), content.get("parts")) {
                (Some(Val::Str(target)), ..) => link(target, &path),
                (_, Some(Val::Str(text)), _) => fs::write(&path, base64(text)?),
                (.., Some(parts)) => fs::write(&path, repeated(parts)?),
                _ => return Err(format!("`{name}` is no file that can be made")),
            },
        };
        made.map_err(|error| format!("`{name}`: {error}"))?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("links need a Unix"))
}

/// `[[text, n], …]`: each text so often.
fn repeated(parts: &Val<'_>) -> Result<String, String> {
    let one = |part: &Val<'_>| match part.as_list() {
        Some([Val::Str(text), Val::I(n)]) => Ok(text.repeat(usize::try_from(*n).unwrap_or(0))),
        _ => Err("a part is a text and a number".to_owned()),
    };
    parts.as_list().unwrap_or(&[]).iter().map(one).collect()
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut n_bits) = (0u32, 0);
    for letter in text.bytes().filter(|it| *it != b'=') {
        let value = LETTERS.iter().position(|it| *it == letter).ok_or("this is not base64")?;
        bits = (bits << 6) | u32::try_from(value).unwrap_or(0);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from((bits >> n_bits) & 0xff).unwrap_or(0));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("eP/+eA=="), Ok(vec![b'x', 0xff, 0xfe, b'x']));
    }

    #[test]
    fn root_is_filled_in() {
        let value = parse_json(r#"{"a": ["${ROOT}/b", 1]}"#).expect("JSON").value;
        assert_eq!(filled(&value, "/r").to_string(), r#"{"a": ["/r/b", 1]}"#);
    }
}
