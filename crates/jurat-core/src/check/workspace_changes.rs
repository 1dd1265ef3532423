//! `workspace_unchanged`: what the run made of its workspace.

use std::sync::Arc;

use jurat_compare::Mismatch;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Spanned, Val};

use super::decision::{Decided, member, mismatch};
use super::{Glob, Rule, Seen, kind};

const EXCEPT: Field<Vec<Spanned<String>>> =
    Field::optional("except", shape::TEXTS, "patterns of paths that may differ: `*`, `**`, `?`, `[…]`").or_null();

kind! {
    WORKSPACE_UNCHANGED = "workspace_unchanged": "passes if the run added, changed and removed nothing in its workspace",
    keys: [EXCEPT.key],
    read: workspace_unchanged,
    dimensions: ["process"],
    note: "A pattern that ends with `/` means everything below a directory.",
}

/// Whether nothing in the workspace is different, but for these.
#[derive(Debug)]
struct WorkspaceUnchanged {
    except: Vec<Glob>,
}

impl Rule for WorkspaceUnchanged {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let is_excepted = |path: &&str| self.except.iter().any(|it| it.matches(path));
        let mut changes = Vec::new();
        for part in ["added", "changed", "removed"] {
            let paths = member(evidence, &["workspace", part])?.as_list().unwrap_or(&[]);
            let paths = paths.iter().filter_map(Val::as_str);
            changes.extend(paths.filter(|it| !is_excepted(it)).map(|it| (part, it)));
        }
        Ok(unchanged(&changes, self.except.iter().map(Glob::as_str).collect()))
    }
}

fn workspace_unchanged(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let written = fields.read(reading, &EXCEPT).unwrap_or_default();
    let mut except = Vec::new();
    for Spanned { value, span } in written {
        match Glob::parse(&value) {
            Ok(glob) => except.push(glob),
            Err(reason) => {
                let message = format!("`{value}` is not a pattern of paths: {reason}");
                reading.problem(Problem::new(&codes::BAD_PATTERN, message).at(span, "here"));
            }
        }
    }
    Some(Arc::new(WorkspaceUnchanged { except }))
}

fn unchanged(changes: &[(&str, &str)], except: Vec<&str>) -> Option<Mismatch> {
    const MOST: usize = 8;
    if changes.is_empty() {
        return None;
    }
    let expected = match except.is_empty() {
        true => "an unchanged workspace".to_owned(),
        false => {
            format!("a workspace unchanged except for {}", listed_all(except))
        }
    };
    let named = changes.iter().take(MOST).map(|(part, path)| format!("`{path}` {part}")).collect::<Vec<_>>().join(", ");
    let more = if changes.len() > MOST { format!(", and {} more", changes.len() - MOST) } else { String::new() };
    Some(mismatch(expected, format!("{named}{more}")))
}
