//! Texts, values, JSON documents and paths as they never come from a careful author.

use jurat_format::value::{FieldPath, Map, Step, Val, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Texts that some format takes for something else, or cannot hold as they are.
const NASTY: &[&str] = &[
    "",
    " ",
    "no",
    "Yes",
    "on",
    "y",
    "null",
    "~",
    "true",
    "FALSE",
    "0x1",
    "0o7",
    "1e3",
    ".inf",
    "-.INF",
    ".nan",
    "-",
    "- a",
    "?",
    "? a",
    ":",
    ": ",
    "a: b",
    "a:",
    "a #b",
    "#",
    "&a",
    "*a",
    "!x",
    "!!str",
    "%YAML",
    "@x",
    "`x",
    "|",
    ">-",
    "'",
    "\"",
    "\\",
    "\\n",
    "{",
    "[",
    "]",
    "}",
    ",",
    "---",
    "...",
    "<<",
    "=",
    "line\nline\n",
    "\n",
    "\n\n  x",
    "tab\tx",
    "\t",
    "\r\n",
    "\r",
    " lead",
    "trail ",
    "\u{0}",
    "\u{7}",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "a\u{85}b",
    "\u{a0}",
    "\u{2028}",
    "a\u{2029}b",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "😀",
    "\u{10ffff}",
    "\u{1fffe}",
    "e\u{301}",
    "2024-01-31",
    "12:30:45",
    "1_000",
    "+5",
    "-0",
    "007",
    "0.10",
    "1.",
    ".5",
    "NaN",
    "${answer}",
    "${",
    "${}",
    "$5",
    "${a b} ${c}",
];

/// Any text, most of it short.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(NASTY).prop_map(str::to_owned),
        2 => vec(any::<char>(), 0..8).prop_map(|it| it.into_iter().collect()),
        2 => vec(select(NASTY), 2..4).prop_map(|it| it.concat()),
        1 => "[a-z ]{0,20}",
    ]
}

/// Any number that JSON can write, each in the one form that reading gives it.
pub(crate) fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-20_i64..20).prop_map(Val::I),
        any::<i64>().prop_map(Val::I),
        (1_u64 << 63..).prop_map(Val::U),
        (-20_i32..20).prop_map(|it| Val::F(f64::from(it) / 4.0)),
        any::<f64>().prop_filter("JSON has no infinities", |it| it.is_finite()).prop_map(Val::F),
        "-?[1-9][0-9]{20,30}".prop_map(|it| Val::Big(it.into())),
        "-?[1-9](\\.[0-9]{1,3})?e[1-9][0-9]{3}".prop_map(|it| Val::Big(it.into())),
    ]
}

/// Null, a boolean, a number or text.
pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Val::Null), any::<bool>().prop_map(Val::Bool), number(), text().prop_map(Val::from)]
}

/// Any value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        let map = vec((text(), inner.clone()), 0..4).prop_map(|it| Val::Map(it.into_iter().collect::<Map<'static>>()));
        prop_oneof![vec(inner, 0..4).prop_map(Val::List), map]
    })
}

/// Keys that come up again and again, so that paths hit and objects repeat themselves.
const KEYS: &[&str] = &["a", "b", "c-d", "été", "a b", "", "\"", "😀"];

/// The text of a JSON document: keys may be repeated, any character may be escaped, texts may be JSON in turn.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        scalar().prop_map(|it| it.to_string()),
        select(KEYS).prop_map(escaped),
        select(&["-0", "0.10", "1E+2", "1e-999", "1.50e400", "18446744073709551616"][..]).prop_map(str::to_owned),
    ];
    scalar.prop_recursive(4, 32, 5, |inner| {
        let key = prop_oneof![3 => select(KEYS).prop_map(plain), 1 => select(KEYS).prop_map(escaped)];
        prop_oneof![
            2 => vec(inner.clone(), 0..4).prop_map(|it| format!("[{}]", it.join(" , "))),
            4 => vec((key, inner.clone()), 0..5).prop_map(|it| {
                let members: Vec<String> = it.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
            1 => inner.prop_map(|it| plain(&it)),
        ]
    })
}

fn plain(text: &str) -> String {
    Val::from(text).to_string()
}

fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|it| format!("\\u{it:04x}")).collect();
    format!("\"{units}\"")
}

/// A path that may well lead somewhere in a [`document`].
pub(crate) fn likely_path() -> impl Strategy<Value = FieldPath> {
    let step = prop_oneof![
        5 => select(KEYS).prop_map(|it| Step::Key(it.into())),
        2 => (-3_i64..4).prop_map(Step::Index),
        1 => Just(Step::Each),
        1 => Just(Step::Json),
    ];
    vec(step, 1..5).prop_map(FieldPath::of)
}

/// Any path at all.
pub(crate) fn path() -> impl Strategy<Value = FieldPath> {
    let step = prop_oneof![
        3 => text().prop_map(|it| Step::Key(it.into())),
        1 => "[a-z_][a-z0-9_-]{0,8}".prop_map(|it| Step::Key(it.into())),
        1 => any::<i64>().prop_map(Step::Index),
        1 => Just(Step::Each),
        1 => Just(Step::Json),
    ];
    vec(step, 1..6).prop_map(FieldPath::of)
}
