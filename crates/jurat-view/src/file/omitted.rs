//! What is left out of a file because its author wants it left out.

use std::collections::BTreeSet;

use jurat_engine::view::{RunView, ViewError};
use jurat_format::value::{FieldPath, Val, Value, parse_json};
use jurat_store::run::RunFileError;

/// What stands in the place of a text that is left out.
pub(super) const LEFT_OUT: &str = "[left out]";

/// Shorter texts stand in others by chance; they are left out at their path alone.
const LEAST: usize = 3;

/// The paths whose values are left out, and the texts that were found there.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    pub(super) paths: Vec<FieldPath>,
    /// The longest first, so that a text is not cut by one that it contains.
    texts: Vec<String>,
}

impl Omitted {
    /// Looks for the values in all rows of a run.
    pub(super) fn find(view: &RunView, paths: &[FieldPath]) -> Result<Omitted, ViewError> {
        let mut texts = BTreeSet::new();
        if !paths.is_empty() {
            for case in view.reader().identities() {
                if let Some(row) = row(view, case?.case_ix)? {
                    paths.iter().filter_map(|it| it.find(&row).ok()).for_each(|it| gather(&it, &mut texts));
                }
            }
        }
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Ok(Omitted { paths: paths.to_vec(), texts })
    }

    /// How many different texts are left out.
    pub(super) fn n_texts(&self) -> usize {
        self.texts.len()
    }

    /// A text without them.
    pub(super) fn text(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, it| {
            if text.contains(it.as_str()) { text.replace(it.as_str(), LEFT_OUT) } else { text }
        })
    }

    /// Markup without them: there they are escaped, inside of JSON even twice.
    pub(super) fn markup(&self, markup: &str) -> String {
        let mut found = markup.to_owned();
        for text in &self.texts {
            let json = serde_json::Value::from(text.as_str()).to_string();
            let in_json = json.trim_matches('"');
            for form in [text.as_str(), in_json] {
                let shown = escaped(&jurat_report::visible(form));
                let on_a_line = escaped(&jurat_report::visible_line(form));
                for shown in [shown, on_a_line] {
                    if found.contains(&shown) {
                        found = found.replace(&shown, LEFT_OUT);
                    }
                }
            }
        }
        found
    }

    /// A value of a row without them.
    pub(super) fn value(&self, value: &Value) -> Value {
        self.without(value, "")
    }

    fn without(&self, value: &Value, path: &str) -> Value {
        if self.paths.iter().any(|it| it.to_string() == path) {
            return Val::from(LEFT_OUT.to_owned());
        }
        match value {
            Val::Map(map) => {
                let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                Val::Map(map.iter().map(|(name, it)| (name.to_owned(), self.without(it, &below(name)))).collect())
            }
            Val::List(list) => {
                Val::List(list.iter().enumerate().map(|(ix, it)| self.without(it, &format!("{path}[{ix}]"))).collect())
            }
            other => other.clone(),
        }
    }
}

fn row(view: &RunView, case: jurat_core::plan::CaseIx) -> Result<Option<Value>, ViewError> {
    let Some(case) = view.reader().case(case)? else { return Ok(None) };
    match view.reader().row_text(&case) {
        Ok(text) => Ok(parse_json(&text).map(|it| it.value.into_owned()).ok()),
        Err(RunFileError::SourceChanged { .. } | RunFileError::SourceUnreadable { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// All texts of a value.
fn gather(value: &Val<'_>, texts: &mut BTreeSet<String>) {
    match value {
        Val::List(list) => list.iter().for_each(|it| gather(it, texts)),
        Val::Map(map) => map.iter().for_each(|(_, it)| gather(it, texts)),
        Val::Null | Val::Bool(_) => {}
        other => {
            let text = other.as_str().map_or_else(|| other.to_json(), str::to_owned);
            if text.len() >= LEAST {
                texts.insert(text);
            }
        }
    }
}

/// As templates escape text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
