//! The tables of keys in `docs/`: each stands between two comments, and is made from the declarations that read suites.
//!
//! ```text
//! <!-- keys: model + price -->
//! …
//! <!-- end of keys -->
//! ```
//!
//! This is the table of `model`; keys of `price` stand in it as `price.input`. An object that is not listed gets a link to
//! the table that it has elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::iter;

use chores::program;
use jurat_core::suite::reference::{KeyRow, KeyTable, ValueKind, key_tables};

const START: &str = "<!-- keys: ";
const START_ENDS: &str = " -->\n";
const END: &str = "<!-- end of keys -->";

/// The pages that hold tables of keys, each with its text, in order.
pub(crate) fn pages() -> Vec<(String, String)> {
    let directory = program::root().join("docs/reference");
    let names = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<String> =
        names.map(|it| format!("docs/reference/{}", it.file_name().to_string_lossy())).collect();
    paths.sort();
    let read =
        paths.into_iter().filter_map(|it| fs::read_to_string(program::root().join(&it)).ok().map(|text| (it, text)));
    read.filter(|(_, text)| text.contains(START)).collect()
}

/// The page with its tables made anew.
pub(crate) fn filled(path: &str, text: &str, reference: &Reference) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some(block) = next_block(rest) {
        made += block.before;
        made += &format!(
            "{START}{}{START_ENDS}{}{END}",
            block.names.join(" + "),
            reference.table(page(path), &block.names)
        );
        rest = block.after;
    }
    made + rest
}

fn page(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A place for a table.
struct Block<'t> {
    before: &'t str,
    names: Vec<&'t str>,
    after: &'t str,
}

fn next_block(text: &str) -> Option<Block<'_>> {
    let (before, rest) = text.split_once(START)?;
    let (names, rest) = rest.split_once(START_ENDS)?;
    let (_, after) = rest.split_once(END)?;
    Some(Block { before, names: names.split(" + ").collect(), after })
}

fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    iter::successors(next_block(text), |it| next_block(it.after))
}

/// All tables, and where each of them stands.
pub(crate) struct Reference {
    tables: BTreeMap<String, KeyTable>,
    /// The page and the first name of the table that shows an object.
    homes: BTreeMap<String, (String, String)>,
}

impl Reference {
    pub(crate) fn of(pages: &[(String, String)]) -> Reference {
        let tables = key_tables().into_iter().map(|it| (it.name.clone(), it)).collect();
        let mut homes = BTreeMap::new();
        for (path, text) in pages {
            for block in blocks(text) {
                for name in &block.names {
                    let home = (page(path).to_owned(), block.names[0].to_owned());
                    homes.entry((*name).to_owned()).or_insert(home);
                }
            }
        }
        Reference { tables, homes }
    }

    /// The table of the first of these objects, with the keys of the others inside it.
    fn table(&self, page: &str, names: &[&str]) -> String {
        let drawing = Drawing { reference: self, page, inside: &names[1..] };
        let mut lines = Vec::new();
        match self.tables.get(names[0]) {
            Some(table) => drawing.rows("", table, &mut lines),
            None => lines.push(unknown(names[0])),
        }
        lines.extend(names[1..].iter().filter(|it| !self.tables.contains_key(**it)).map(|it| unknown(it)));
        format!("<a id=\"{}\"></a>\n\n{HEAD}{}\n", anchor(names[0]), lines.concat())
    }

    /// The rows of one object, for a page that is made as a whole.
    pub(crate) fn whole_table(&self, page: &str, name: &str, without: &str) -> String {
        let drawing = Drawing { reference: self, page, inside: &[] };
        let rows = self.tables.get(name).map(|it| it.rows.as_slice()).unwrap_or_default();
        let lines: String = rows.iter().filter(|it| it.names[0] != without).map(|it| drawing.line("", it)).collect();
        if lines.is_empty() { lines } else { format!("{HEAD}{lines}") }
    }

    pub(crate) fn row(&self, name: &str, key: &str) -> Option<&KeyRow> {
        self.tables.get(name)?.rows.iter().find(|it| it.names[0] == key)
    }
}

const HEAD: &str = "| key | value | default | meaning |\n|---|---|---|---|\n";

fn unknown(name: &str) -> String {
    format!("| the format has no object `{name}` | | | |\n")
}

fn anchor(name: &str) -> String {
    format!("keys-{}", name.replace([' ', '_'], "-"))
}

/// One table on one page.
struct Drawing<'r> {
    reference: &'r Reference,
    page: &'r str,
    /// The objects whose keys stand in this table.
    inside: &'r [&'r str],
}

impl Drawing<'_> {
    fn rows(&self, prefix: &str, table: &KeyTable, lines: &mut Vec<String>) {
        for row in &table.rows {
            lines.push(self.line(prefix, row));
            let mut inner = Vec::new();
            self.objects(&format!("{prefix}{}", row.names[0]), &row.value, &mut inner);
            inner.iter().for_each(|(prefix, table)| self.rows(prefix, table, lines));
        }
    }

    /// The objects inside a value whose keys stand in this table, each with the path to its keys.
    fn objects<'s>(&'s self, path: &str, value: &ValueKind, found: &mut Vec<(String, &'s KeyTable)>) {
        match value {
            ValueKind::Object(name) if self.inside.contains(&name.as_str()) => {
                found.extend(self.reference.tables.get(name).map(|it| (format!("{path}."), it)));
            }
            ValueKind::List(item) => self.objects(&format!("{path}[]"), item, found),
            ValueKind::Map(item) => self.objects(&format!("{path}.NAME"), item, found),
            ValueKind::Either(kinds) => kinds.iter().for_each(|it| self.objects(path, it, found)),
            ValueKind::Words(_) | ValueKind::Page(..) | ValueKind::Object(_) => {}
        }
    }

    fn line(&self, prefix: &str, row: &KeyRow) -> String {
        let names: Vec<String> = row.names.iter().map(|it| format!("`{prefix}{it}`")).collect();
        let default = if row.is_required { "required" } else { row.default.as_deref().unwrap_or_default() };
        let value = self.value(&row.value);
        format!("| {} | {} | {} | {} |\n", names.join(", "), cell(&value), cell(default), cell(row.meaning))
    }

    fn value(&self, value: &ValueKind) -> String {
        match value {
            ValueKind::Words(words) => words.clone(),
            ValueKind::Page(words, page) => format!("[{words}]({})", self.address(page)),
            ValueKind::Object(name) => self.object(name),
            ValueKind::List(item) => format!("list of {}", self.inner(item)),
            ValueKind::Map(item) => format!("object: name → {}", self.inner(item)),
            ValueKind::Either(kinds) => kinds.iter().map(|it| self.value(it)).collect::<Vec<_>>().join(", or "),
        }
    }

    /// A value inside another: several kinds are put into parentheses.
    fn inner(&self, value: &ValueKind) -> String {
        let words = self.value(value);
        if matches!(value, ValueKind::Either(_)) { format!("({words})") } else { words }
    }

    fn object(&self, name: &str) -> String {
        match self.reference.homes.get(name) {
            Some((page, first)) if !self.inside.contains(&name) => {
                format!("[{name}]({})", self.address(&format!("{page}#{}", anchor(first))))
            }
            _ => "object".to_owned(),
        }
    }

    /// An address as it is written on this page.
    fn address(&self, to: &str) -> String {
        to.strip_prefix(self.page).filter(|it| it.starts_with('#')).unwrap_or(to).to_owned()
    }
}

/// Text in the cell of a table, where `|` has a meaning of its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jurat_core::suite::schema::suite_schema;
    use jurat_format::value::Val;

    use super::*;

    fn documented() -> Reference {
        Reference::of(&pages())
    }

    #[test]
    fn every_object_of_the_format_has_a_table() {
        let reference = documented();
        let of_checks = |it: &&String| it.starts_with("check ");
        let missing: Vec<&String> =
            reference.tables.keys().filter(|it| !of_checks(it) && !reference.homes.contains_key(*it)).collect();
        assert!(missing.is_empty(), "no page of docs/reference has `<!-- keys: … -->` for {missing:#?}");
    }

    #[test]
    fn every_table_is_of_an_object_of_the_format() {
        let reference = documented();
        let unknown: Vec<&String> = reference.homes.keys().filter(|it| !reference.tables.contains_key(*it)).collect();
        assert!(unknown.is_empty(), "the format has no such objects: {unknown:?}");
    }

    /// The schema is walked on its own, so that an object which the tables forget is noticed.
    #[test]
    fn every_key_of_the_schema_stands_in_a_table() {
        let reference = documented();
        let tables: Vec<BTreeSet<&str>> =
            reference.tables.values().map(|it| it.rows.iter().flat_map(|row| row.names.clone()).collect()).collect();
        let schema = suite_schema();
        let mut objects = Vec::new();
        closed_objects(&schema, &mut objects);
        let missing: Vec<_> = objects.iter().filter(|it| !tables.iter().any(|table| it.is_subset(table))).collect();
        assert!(objects.len() > 50 && missing.is_empty(), "no table has these keys: {missing:#?}");
    }

    /// The keys of every object of the schema that allows no others, but those with tables on pages of their own.
    fn closed_objects<'v>(schema: &'v Val<'_>, found: &mut Vec<BTreeSet<&'v str>>) {
        match schema {
            Val::List(items) => items.iter().for_each(|it| closed_objects(it, found)),
            Val::Map(members) => {
                let properties = members.get("properties").and_then(Val::as_map);
                if members.get("additionalProperties") == Some(&Val::Bool(false))
                    && let Some(properties) = properties
                {
                    let is_reserved = |it: &Val<'_>| it.as_map().is_some_and(|it| it.get("deprecated").is_some());
                    found.push(properties.iter().filter(|(_, it)| !is_reserved(it)).map(|(key, _)| key).collect());
                }
                let is_elsewhere =
                    |key: &str| key.starts_with("operator_") || ["any_operator", "any_builtin"].contains(&key);
                let inner = members.iter().filter(|(key, _)| !is_elsewhere(key));
                inner.for_each(|(_, it)| closed_objects(it, found));
            }
            _ => {}
        }
    }

    #[test]
    fn keys_of_objects_inside_stand_in_the_table_with_their_path() {
        let page = "# Models\n\n<!-- keys: model + price -->\nstale\n<!-- end of keys -->\n\nMore.\n";
        let pages = [("docs/reference/models.md".to_owned(), page.to_owned())];
        let made = filled(&pages[0].0, page, &Reference::of(&pages));
        assert!(
            made.starts_with("# Models\n\n<!-- keys: model + price -->\n<a id=\"keys-model\"></a>\n\n| key |"),
            "{made}"
        );
        let line = "| `price.input` | number of at least 0 | required | dollars per million input tokens |";
        assert!(made.lines().any(|it| it == line), "{made}");
        assert!(made.ends_with("|\n\n<!-- end of keys -->\n\nMore.\n"), "{made}");
    }

    #[test]
    fn a_page_that_is_up_to_date_stays_as_it_is() {
        let pages = pages();
        let reference = Reference::of(&pages);
        for (path, text) in &pages {
            assert_eq!(filled(path, text, &reference), *text, "{path} is stale: run `cargo xtask generate`");
        }
    }
}
