//! Every comparison with parameters to try it with, and operands that it takes.

use jurat_compare::{Args, Entry, Operand, Operator, Origin, entries};
use jurat_format::value::{SourceId, Val, Value, json_node};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::arbitrary::{number, scalar, text, value};

/// Parameters of the primitives that have any.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("ExactMatch", &["{}", r#"{"normalize": []}"#, NORMALIZED]),
    ("ContainsAny", &[r#"{"substrings": []}"#, r#"{"substrings": ["a", "", "no"], "normalize": ["strip"]}"#]),
    ("ContainsAll", &[r#"{"substrings": ["a", "b"]}"#, r#"{"substrings": ["A b"], "normalize": ["lowercase"]}"#]),
    (
        "RegexMatch",
        &[
            r#"{"pattern": "^a.c$", "flags": ["I", "DOTALL"]}"#,
            r#"{"pattern": "(?P<x>[a-z])(?P=x)"}"#,
            r#"{"pattern": "\\d+(?=x)"}"#,
        ],
    ),
    ("SemanticMatch", &["{}", r#"{"threshold": 0.5}"#]),
    ("NumericTolerance", &[r#"{"tolerance": 0.1}"#, r#"{"tolerance": 2, "mode": "absolute"}"#]),
    ("NumericRange", &[r#"{"min": -1.5}"#, r#"{"min": 0, "max": 10, "exclusive_min": true, "exclusive_max": true}"#]),
    ("NumericMinimum", &["{}", r#"{"exclusive": true}"#]),
    ("NumericMaximum", &["{}", r#"{"exclusive": true}"#]),
    (
        "NumericGraded",
        &[
            r#"{"cutoff": 0.5}"#,
            r#"{"cutoff": 10, "full_credit": 1, "mode": "absolute", "decay": "quadratic"}"#,
            r#"{"cutoff": 1e308, "full_credit": 0}"#,
        ],
    ),
    (
        "NumericRangeGraded",
        &[
            r#"{"min": 0, "max": 10, "margin": 5}"#,
            r#"{"min": -1e308, "max": 1e308, "margin": 1e300, "mode": "relative", "decay": "quadratic"}"#,
            r#"{"min": 0, "max": 1, "margin": 1, "exclusive_min": true, "exclusive_max": true}"#,
        ],
    ),
    (
        "NumericThresholdGraded",
        &[
            r#"{"direction": "max", "margin": 0.5}"#,
            r#"{"direction": "min", "margin": 5, "mode": "absolute", "decay": "quadratic", "exclusive": true}"#,
        ],
    ),
    (
        "SetContainment",
        &[
            "{}",
            r#"{"mode": "subset"}"#,
            r#"{"mode": "superset"}"#,
            r#"{"mode": "overlap"}"#,
            r#"{"mode": "overlap", "min_overlap": 2}"#,
        ],
    ),
    ("OrderedMatch", &["{}", NORMALIZED]),
    ("DateMatch", &["{}", r#"{"format": "%d.%m.%Y"}"#]),
    (
        "DateTolerance",
        &[r#"{"tolerance": 30}"#, r#"{"tolerance": 90, "unit": "minutes"}"#, r#"{"tolerance": 8999999999999999}"#],
    ),
    ("DateRange", &[r#"{"min": "2015-01-01"}"#, r#"{"min": "2015-01-01", "max": "31 Dec 2015"}"#]),
    ("TraceRegex", &[r#"{"pattern": "a"}"#, r#"{"pattern": "\\[\\d+\\]", "count_min": 2}"#]),
    ("TraceContains", &[r#"{"substring": ""}"#, r#"{"substring": "no"}"#]),
    ("TraceLength", &[r#"{"min": 1, "max": 5}"#, r#"{"max": 2, "unit": "words"}"#]),
];

const NORMALIZED: &str = r#"{"normalize": ["remove_punctuation", "collapse_whitespace", {"mapping": {"no": "0x1", "<<": "\n"}}, "lowercase"]}"#;

/// Every comparison of the catalogue, with each of its sets of parameters.
pub(crate) fn operators() -> Vec<Operator> {
    let sets = |entry: &Entry| {
        let named = PARAMETERS.iter().find(|(name, _)| entry.origin == Origin::Primitive && *name == entry.name);
        named.map_or(&["{}"][..], |(_, sets)| sets)
    };
    entries().flat_map(|entry| sets(entry).iter().map(move |parameters| operator(entry, parameters))).collect()
}

/// The comparison with these parameters, written as JSON.
pub(crate) fn operator(entry: &'static Entry, parameters: &str) -> Operator {
    let (node, _) = json_node(parameters, SourceId(0)).expect("parameters are JSON");
    let mut args = Args::new(&node).expect("parameters are an object");
    let operator = Operator::read(entry, &mut args).unwrap_or_else(|error| panic!("{} {error}", entry.name));
    assert!(args.flaws().is_empty(), "{} {parameters}: {:?}", entry.name, args.flaws());
    operator
}

/// Dates in the forms that people write, and some that are none.
const DATES: &[&str] = &[
    "2016-04-11",
    "April 11, 2016",
    "11/04/2016",
    "11.04.2016",
    "2016-04-11T10:00:00Z",
    "2016-04-11 23:59",
    "April 2016",
    "10:30",
    "2016",
    "31 Dec 2015",
    "20160411",
    "9999-12-31",
    "0001-01-01",
    "2016-02-30",
];

/// Values of which comparisons think something: numbers as text, dates, addresses.
pub(crate) fn revealing_value() -> impl Strategy<Value = Value> {
    let revealing = select(
        &[
            "5",
            " 5 ",
            "5.0",
            "+5",
            "1e3",
            "inf",
            "nan",
            "-1_000",
            "٣",
            "a@b.de",
            "https://a.de/x",
            "{}",
            "[1]",
            "Abc",
            "ABC",
            "abc",
            "abc1",
            "a b",
            "aab",
            "[1] [2]",
            "123e4567-e89b-12d3-a456-426614174000",
        ][..],
    );
    let leaf = prop_oneof![
        2 => value(),
        2 => revealing.prop_map(Val::from),
        1 => select(DATES).prop_map(Val::from),
        2 => number(),
    ];
    prop_oneof![3 => leaf.clone(), 1 => vec(leaf, 0..4).prop_map(Val::List)]
}

/// An operand that the comparison takes without complaint; `None` when it takes none.
pub(crate) fn fitting_operand(operator: &Operator) -> BoxedStrategy<Option<Value>> {
    let moderate = || (-1000_i64..1000).prop_map(|it| if it % 2 == 0 { Val::I(it) } else { Val::F(it as f64 / 8.0) });
    // `${…}` is a path, not text.
    let literal = |it: &Value| !it.as_str().is_some_and(|it| it.starts_with("${") && it.ends_with('}'));
    match operator.entry().operand {
        Operand::Ignored => Just(None).boxed(),
        Operand::Direction => proptest::option::of(any::<bool>().prop_map(Val::Bool)).boxed(),
        Operand::Any => value().prop_filter("a path", literal).prop_map(Some).boxed(),
        Operand::Number if operator.entry().name.starts_with("HasLength") => {
            (0_u64..1000).prop_map(|it| Some(Val::from(it))).boxed()
        }
        Operand::Number => number().prop_map(Some).boxed(),
        Operand::Numeric => {
            prop_oneof![moderate(), Just(Val::from("5")), Just(Val::from(" 1e3"))].prop_map(Some).boxed()
        }
        Operand::Text if operator.entry().name == "ContainsWord" => {
            select(&["cat", "New York", "x", "é_1"][..]).prop_map(|it| Some(it.into())).boxed()
        }
        Operand::Text => text().prop_map(Val::from).prop_filter("a path", literal).prop_map(Some).boxed(),
        Operand::Pattern => select(&["^a.c$", "", "(?i)no: #", "\\d{3}-\\p{L}", "(a)\\1", "x(?!y)"][..])
            .prop_map(|it| Some(it.into()))
            .boxed(),
        Operand::List => vec(scalar(), 0..4).prop_map(|it| Some(Val::List(it))).boxed(),
        Operand::Range => (-1000_i64..1000, 0_i64..1000)
            .prop_map(|(from, more)| Some(Val::List(vec![Val::I(from), Val::I(from + more)])))
            .boxed(),
        Operand::Tolerance => {
            (moderate(), 0_i64..9).prop_map(|(center, it)| Some(Val::List(vec![center, Val::I(it)]))).boxed()
        }
        Operand::Date if operator.parameters().iter().any(|(name, it)| *name == "format" && *it != Val::Null) => {
            Just(Some(Val::from("11.04.2016"))).boxed()
        }
        Operand::Date => select(&DATES[..6]).prop_map(|it| Some(it.into())).boxed(),
    }
}

#[test]
fn every_parameter_is_tried() {
    for entry in entries().filter(|it| !it.params.is_empty()) {
        let sets = PARAMETERS.iter().find(|(name, _)| *name == entry.name).map(|(_, sets)| sets.join(" "));
        let sets = sets.unwrap_or_else(|| panic!("{} has no parameters here", entry.name));
        for param in entry.params {
            assert!(sets.contains(&format!("{:?}:", param.name)), "{}: nobody tries `{}`", entry.name, param.name);
        }
    }
}
