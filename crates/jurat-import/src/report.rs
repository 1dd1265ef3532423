//! What became of each thing that was read.

use std::collections::HashMap;

use jurat_format::value::{Map, Val, Value, write_json};

/// How faithfully something was taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// It means the same here.
    Exact,
    /// It means nearly the same; the entry says what differs.
    Approximate,
    /// It is not in what was written; the entry says why.
    Dropped,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Exact, Class::Approximate, Class::Dropped];

    pub fn name(self) -> &'static str {
        match self {
            Class::Exact => "exact",
            Class::Approximate => "approximate",
            Class::Dropped => "dropped",
        }
    }
}

/// One thing that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands: `promptfooconfig.yaml:12`.
    pub at: String,
    /// What it is: "assertion `icontains`".
    pub what: String,
    pub class: Class,
    /// What it became: "task `icontains_2`".
    pub into: Option<String>,
    /// The difference, or why it was dropped.
    pub why: Option<String>,
}

/// How many entries have each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub exact: usize,
    pub approximate: usize,
    pub dropped: usize,
}

/// Members that nothing becomes of. There may be many things with the same ones, so each has one entry for all.
#[derive(Debug, Default)]
pub(crate) struct Unused {
    /// A member, how many things have it, and where the first of them is.
    found: Vec<(String, usize, String)>,
}

impl Unused {
    /// Notes a member.
    pub(crate) fn note(&mut self, at: &str, member: &str) {
        match self.found.iter_mut().find(|(it, ..)| it == member) {
            Some((_, n_found, _)) => *n_found += 1,
            None => self.found.push((member.to_owned(), 1, at.to_owned())),
        }
    }

    /// Notes the members of an object that say something and are not among these.
    pub(crate) fn note_others(&mut self, at: &str, value: &Value, known: &[&str]) {
        for (key, _) in value.as_map().into_iter().flat_map(Map::iter).filter(|(_, it)| says_something(it)) {
            if !known.contains(&key) {
                self.note(at, key);
            }
        }
    }

    /// An entry for each.
    pub(crate) fn report(self, report: &mut Report, of: &str, why: &str) {
        for (member, n_found, at) in self.found {
            report.dropped(&at, format!("`{member}` of {}", crate::kind::counted(n_found, of)), why);
        }
    }
}

/// Whether a value is more than nothing, an empty text, list or object.
fn says_something(value: &Value) -> bool {
    match value {
        Val::Null => false,
        Val::Str(text) => !text.trim().is_empty(),
        Val::List(items) => !items.is_empty(),
        Val::Map(map) => !map.is_empty(),
        _ => true,
    }
}

/// Why a member is not used that nothing more is to be said about.
pub(crate) const NOT_KNOWN: &str = "not known to the importer";

/// Everything that was read, in the order in which it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    pub entries: Vec<Entry>,
}

impl Report {
    pub fn exact(&mut self, at: &str, what: impl Into<String>, into: impl Into<String>) {
        self.add(at, what, Class::Exact, Some(into.into()), None);
    }

    pub fn approximate(
        &mut self,
        at: &str,
        what: impl Into<String>,
        into: impl Into<String>,
        difference: impl Into<String>,
    ) {
        self.add(at, what, Class::Approximate, Some(into.into()), Some(difference.into()));
    }

    pub fn dropped(&mut self, at: &str, what: impl Into<String>, reason: impl Into<String>) {
        self.add(at, what, Class::Dropped, None, Some(reason.into()));
    }

    pub(crate) fn add(
        &mut self,
        at: &str,
        what: impl Into<String>,
        class: Class,
        into: Option<String>,
        why: Option<String>,
    ) {
        self.entries.push(Entry { at: at.to_owned(), what: what.into(), class, into, why });
    }

    /// Orders the entries by file, in the order in which files were first named, then by line.
    pub(crate) fn sort(&mut self) {
        let mut files: HashMap<String, usize> = HashMap::new();
        for entry in &self.entries {
            let (file, _) = entry.place();
            if !files.contains_key(file) {
                files.insert(file.to_owned(), files.len());
            }
        }
        self.entries.sort_by_key(|it| {
            let (file, line) = it.place();
            (files.get(file).copied(), line)
        });
    }

    pub fn totals(&self) -> Totals {
        let count = |class| self.entries.iter().filter(|it| it.class == class).count();
        Totals { exact: count(Class::Exact), approximate: count(Class::Approximate), dropped: count(Class::Dropped) }
    }

    /// An object of these members, the totals and the entries, as JSON.
    pub fn to_json(&self, mut about: Map<'static>) -> String {
        about.insert("totals".into(), self.totals().to_value());
        let mut json = Val::Map(about).to_json();
        // There may be very many entries: they are written one by one.
        json.truncate(json.len() - 1);
        json.push_str(",\"entries\":[");
        for (ix, entry) in self.entries.iter().enumerate() {
            if ix > 0 {
                json.push(',');
            }
            write_json(&mut json, &entry.to_value());
        }
        json.push_str("]}");
        json
    }
}

impl Totals {
    fn to_value(self) -> Value {
        let count = |n: usize| Val::from(n as u64);
        let Totals { exact, approximate, dropped } = self;
        let totals = [("exact", count(exact)), ("approximate", count(approximate)), ("dropped", count(dropped))];
        Val::Map(totals.into_iter().collect::<Map<'static>>())
    }
}

impl Entry {
    /// Its file and its line.
    fn place(&self) -> (&str, usize) {
        match self.at.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().unwrap_or_default()),
            None => (&self.at, 0),
        }
    }

    fn to_value(&self) -> Value {
        let text = |it: &str| Val::from(it.to_owned());
        let mut members: Map<'static> =
            [("at", text(&self.at)), ("what", text(&self.what)), ("class", text(self.class.name()))]
                .into_iter()
                .collect();
        for (key, value) in [("into", &self.into), ("why", &self.why)] {
            if let Some(value) = value {
                members.insert(key.into(), text(value));
            }
        }
        Val::Map(members)
    }
}
