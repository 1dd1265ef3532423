//! What is left out of a file because its author wants it left out.

use std::collections::BTreeSet;

use jurat_engine::view::{RunView, ViewError};
use jurat_format::value::{FieldPath, Val, Value, parse_json};
use jurat_store::run::RunFileError;

/// What stands in the place of a text that is left out.
pub(super) const LEFT_OUT: &str = "[left out]";

/// Shorter texts stand in others by chance; they are left out at their path alone.
const LEAST: usize = 3;

/// Shorter lines of texts stand in others by chance.
const LEAST_OF_LINES: usize = 12;

/// The paths whose values are left out, and the texts that were found there.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    pub(super) paths: Vec<FieldPath>,
    /// The longest first, so that a text is not cut by one that it contains.
    texts: Vec<String>,
    /// Lines of texts that have several: pages show some texts line by line.
    lines: Vec<String>,
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
        let lines = texts.iter().filter(|it| it.contains('\n')).flat_map(|it| it.lines());
        let lines: BTreeSet<String> = lines.filter(|it| it.len() >= LEAST_OF_LINES).map(str::to_owned).collect();
        Ok(Omitted { paths: paths.to_vec(), texts: longest_first(texts), lines: longest_first(lines) })
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
        if self.texts.is_empty() {
            return markup.to_owned();
        }
        let mut found = IN_PIECES.iter().fold(markup.to_owned(), |it, (start, end)| without(&it, start, end));
        for text in self.texts.iter().chain(&self.lines) {
            let json = serde_json::Value::from(text.as_str()).to_string();
            let in_json = json.trim_matches('"');
            for form in [text.as_str(), in_json] {
                let shown = escaped(&jurat_report::visible(form));
                let on_a_line = escaped(&jurat_report::visible_line(form));
                for shown in [shown, on_a_line] {
                    if found.contains(&shown) {
                        found = found.replace(&shown, LEFT_OUT);
                    }
                    found = without_beginnings(&found, &shown);
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

/// Parts of pages that show texts in pieces, with markup in between, by how they begin and end: what differs, and rendered Markdown.
const IN_PIECES: [(&str, &str); 3] = [
    ("<details class=\"rendered\"", "</details>"),
    ("<details class=\"difference\"", "</details>"),
    ("<pre class=\"diff\"", "</pre>"),
];

/// Markup without the parts that begin and end so.
fn without(markup: &str, start: &str, end: &str) -> String {
    let mut done = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(at) = rest.find(start) {
        done.push_str(&rest[..at]);
        done.push_str("<p class=\"hint\">");
        done.push_str(LEFT_OUT);
        done.push_str("</p>");
        rest = rest[at..].find(end).map_or("", |it| &rest[at + it + end.len()..]);
    }
    done.push_str(rest);
    done
}

/// What marks that a text was cut.
const CUT: char = '…';

/// Shorter beginnings stand in other texts by chance.
const LEAST_OF_BEGINNINGS: usize = 8;

/// Markup without beginnings of a text that is cut.
fn without_beginnings(markup: &str, text: &str) -> String {
    let beginning = text.floor_char_boundary(LEAST_OF_BEGINNINGS);
    if beginning < LEAST_OF_BEGINNINGS || !markup.contains(&text[..beginning]) {
        return markup.to_owned();
    }
    let mut done = String::with_capacity(markup.len());
    for part in markup.split_inclusive(CUT) {
        let body = part.strip_suffix(CUT).unwrap_or_default();
        let from = body.ceil_char_boundary(body.len().saturating_sub(text.len()));
        let mut starts = body[from..].match_indices(&text[..beginning]).map(|it| from + it.0);
        match starts.find(|it| text.starts_with(&body[*it..])) {
            Some(at) => done.extend([&body[..at], LEFT_OUT, "…"]),
            None => done.push_str(part),
        }
    }
    done
}

/// A shorter text is not cut by one that it contains.
fn longest_first(texts: BTreeSet<String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().collect();
    texts.sort_by_key(|it| std::cmp::Reverse(it.len()));
    texts
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

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, markup: &str) -> String {
        let lines = text.lines().filter(|_| text.contains('\n')).map(str::to_owned).collect();
        Omitted { paths: Vec::new(), texts: vec![text.to_owned()], lines }.markup(markup)
    }

    #[test]
    fn no_part_of_a_text_is_left() {
        let text = "the <secret> of\nthis case & more";
        for markup in [
            "<p>a the &lt;secret&gt; of\nthis case &amp; more b</p>",
            "<p>a \"the &lt;secret&gt; of\\nthis case &amp; more\" b</p>",
            "<code>found `the &lt;secret&gt; o…`</code>",
            "<pre>this case &amp; more</pre>",
            "<details class=\"rendered\"><p>the &lt;<em>secret</em>&gt; of</p></details>",
            "<pre class=\"diff\" tabindex=\"0\">the <del>&lt;secret&gt;</del> of</pre>",
        ] {
            let left = left(text, markup);
            assert!(!left.contains("secret") && !left.contains("this case"), "{left}");
            assert!(left.contains(LEFT_OUT), "{left}");
        }
        assert_eq!(left(text, "<p>another text, the <b>…</p>"), "<p>another text, the <b>…</p>");
    }
}
