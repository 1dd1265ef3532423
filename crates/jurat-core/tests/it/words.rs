//! What comparisons say, word for word: a value that passes, one that fails, one that cannot be judged.

use std::path::Path;

use jurat_compare::{Entry, Operand, entries};
use jurat_core::suite::{RowSource, load};
use jurat_format::value::Context;

use crate::InMemory;

/// The verdict of a comparison on a value. Both are YAML; `nothing` is a row without the value, and the row has a text
/// called `other`, which is neither a number nor an expression.
fn judged(comparison: &str, value: &str) -> (&'static Entry, String) {
    let value = if value == "nothing" { String::new() } else { format!("value: {value}, ") };
    let text = format!(
        "records: [{{ {value}other: '(text' }}]\ntasks:\n  - {{ id: compared, field_path: value, {comparison} }}\n"
    );
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &text)]));
    assert!(loaded.problems.is_empty(), "{comparison}: {:#?}", loaded.problems);
    let RowSource::Inline(rows) = &loaded.suite.records[0].from else { panic!("the rows stand in the text") };
    let comparison = loaded.suite.tasks[0].comparison.as_ref().expect("the task compares");
    let assertion = comparison.assertion().expect("the operand is of use");
    (comparison.operator.value.entry(), assertion.judge(Context::of(&rows[0].value)).to_string())
}

#[test]
fn comparisons_say_what_they_expected_and_found() {
    for (comparison, value, words) in SAID {
        assert_eq!(judged(comparison, value).1, *words, "{comparison} on {value}");
    }
}

/// Those that say yes or no to every value.
const NEVER_AN_ERROR: &[&str] = &[
    "Equals",
    "NotEqual",
    "IsNumeric",
    "IsString",
    "IsBoolean",
    "IsNull",
    "IsArray",
    "IsObject",
    "BooleanMatch",
    "ExactMatch",
    "ContainsAny",
    "ContainsAll",
    "RegexMatch",
    "LiteralMatch",
];

#[test]
fn every_comparison_is_heard_to_pass_to_fail_and_to_decline() {
    let heard: Vec<(&Entry, String)> = SAID.iter().map(|(comparison, value, _)| judged(comparison, value)).collect();
    // `semantic_match` is refused where it is written.
    for entry in entries().filter(|it| it.name != "SemanticMatch") {
        let has = |start: &str| heard.iter().any(|(it, words)| std::ptr::eq(*it, entry) && words.starts_with(start));
        let declines = has("error: ") || (NEVER_AN_ERROR.contains(&entry.name) && entry.operand != Operand::List);
        assert!(has("passed") && has("failed: ") && declines, "{} is not heard in full", entry.name);
    }
}

/// A comparison, a value, and what is said about it.
const SAID: &[(&str, &str, &str)] = &[
    ("operator: equals, expected_value: paid", "paid", "passed"),
    ("operator: equals, expected_value: paid", "open", "failed: expected `paid`, found `open`"),
    ("operator: equals, expected_value: paid", "[paid, open]", "failed: expected `paid`, found `open` at item [1]"),
    ("operator: equals, expected_value: paid", "[]", "failed: expected `paid`, found []"),
    ("operator: equals, expected_value: 5", "'5.0'", "passed"),
    ("operator: equals, expected_value: 5", "6", "failed: expected 5, found 6"),
    ("operator: equals, expected_value: 5", "five", "failed: expected the number 5, found the text `five`"),
    ("operator: equals, expected_value: true", "'true'", "failed: expected the boolean true, found the text `true`"),
    ("operator: equals, expected_value: 'true'", "true", "failed: expected the text `true`, found the boolean true"),
    ("operator: equals, expected_value: 'null'", "~", "failed: expected the text `null`, found null"),
    ("operator: equals, expected_value: paid", "~", "failed: expected `paid`, found null"),
    ("operator: equals, expected_value: [1, 2]", "[1, 2]", "passed"),
    ("operator: equals, expected_value: [1, 2]", "[2, 1]", "failed: expected [1, 2], found [2, 1]"),
    ("operator: not_equal, expected_value: open", "paid", "passed"),
    ("operator: not_equal, expected_value: open", "open", "failed: expected anything but `open`, found `open`"),
    ("operator: greater_than, expected_value: 4", "5", "passed"),
    ("operator: greater_than, expected_value: 4", "4", "failed: expected a number greater than 4, found 4"),
    ("operator: greater_than, expected_value: 4", "'5'", "error: needs a number, found `5`, which is text"),
    (
        "operator: greater_than, expected_value: 4",
        "[5, 4]",
        "failed: expected a number greater than 4, found 4 at item [1]",
    ),
    (
        "operator: greater_than, expected_value: '${other}'",
        "5",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: greater_than_or_equal, expected_value: 7", "7", "passed"),
    ("operator: greater_than_or_equal, expected_value: 7", "6.5", "failed: expected a number of at least 7, found 6.5"),
    (
        "operator: greater_than_or_equal, expected_value: '${other}'",
        "5",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: less_than, expected_value: 2000", "1999", "passed"),
    ("operator: less_than, expected_value: 2000", "2000", "failed: expected a number less than 2000, found 2000"),
    ("operator: less_than, expected_value: '${other}'", "5", "error: `expected_value` must be a number, not `(text`"),
    ("operator: less_than_or_equal, expected_value: 3", "3", "passed"),
    ("operator: less_than_or_equal, expected_value: 3", "4", "failed: expected a number of at most 3, found 4"),
    (
        "operator: less_than_or_equal, expected_value: '${other}'",
        "5",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: contains, expected_value: paid", "invoice paid", "passed"),
    (
        "operator: contains, expected_value: paid",
        "invoice due",
        "failed: expected text with `paid`, found `invoice due`",
    ),
    ("operator: contains, expected_value: paid", "[paid]", "passed"),
    ("operator: contains, expected_value: paid", "[due]", r#"failed: expected a list with `paid`, found ["due"]"#),
    ("operator: contains, expected_value: paid", "5", "error: needs text or a list, found 5"),
    ("operator: contains, expected_value: 5", "[5]", "passed"),
    ("operator: contains, expected_value: 5", "[5.0]", "failed: expected a list with 5, found [5.0]"),
    (
        "operator: contains, expected_value: 5",
        "'5'",
        "error: `expected_value` must be text when the value is text, not 5",
    ),
    ("operator: not_contains, expected_value: sorry", "fine", "passed"),
    (
        "operator: not_contains, expected_value: sorry",
        "I am sorry",
        "failed: expected text without `sorry`, found `I am sorry`",
    ),
    ("operator: not_contains, expected_value: sorry", "null", "error: needs text or a list, found null"),
    ("operator: contains_all, expected_value: [a, b]", "[b, a, c]", "passed"),
    (
        "operator: contains_all, expected_value: [a, b]",
        "[a]",
        r#"failed: expected a list with all of ["a", "b"], found ["a"] without ["b"]"#,
    ),
    (
        "operator: contains_all, expected_value: [a, b]",
        "a and b",
        "error: needs a list, found `a and b`, which is text",
    ),
    ("operator: contains_any, expected_value: [Paris, Rome]", "to Rome", "passed"),
    (
        "operator: contains_any, expected_value: [Paris, Rome]",
        "to Oslo",
        r#"failed: expected text with one of ["Paris", "Rome"], found `to Oslo`"#,
    ),
    (
        "operator: contains_any, expected_value: [Paris, Rome]",
        "[Oslo]",
        r#"failed: expected a list with one of ["Paris", "Rome"], found ["Oslo"]"#,
    ),
    ("operator: contains_any, expected_value: [Paris, Rome]", "5", "error: needs text or a list, found 5"),
    ("operator: contains_none, expected_value: [spam, scam]", "[ham]", "passed"),
    (
        "operator: contains_none, expected_value: [spam, scam]",
        "[ham, spam]",
        r#"failed: expected a list with none of ["spam", "scam"], found ["ham", "spam"] with ["spam"]"#,
    ),
    ("operator: contains_none, expected_value: [spam, scam]", "ham", "error: needs a list, found `ham`, which is text"),
    ("operator: has_unique_items", "[1, 2]", "passed"),
    (
        "operator: has_unique_items",
        "[1, 2, 1]",
        "failed: expected a list in which no item comes twice, found [1, 2, 1] with 1 twice",
    ),
    ("operator: has_unique_items", "text", "error: needs a list, found `text`, which is text"),
    ("operator: sequence_matches, expected_value: [search, answer]", "[search, answer]", "passed"),
    (
        "operator: sequence_matches, expected_value: [search, answer]",
        "[answer, search]",
        r#"failed: expected the sequence ["search", "answer"], found ["answer", "search"]"#,
    ),
    (
        "operator: sequence_matches, expected_value: [search, answer]",
        "search",
        "error: needs a list, found `search`, which is text",
    ),
    ("operator: starts_with, expected_value: Hello", "Hello there", "passed"),
    (
        "operator: starts_with, expected_value: Hello",
        "'Oh, hello'",
        "failed: expected text that starts with `Hello`, found `Oh, hello`",
    ),
    ("operator: starts_with, expected_value: Hello", "5", "error: needs text, found 5"),
    ("operator: ends_with, expected_value: regards", "Kind regards", "passed"),
    (
        "operator: ends_with, expected_value: regards",
        "'regards, Ada'",
        "failed: expected text that ends with `regards`, found `regards, Ada`",
    ),
    ("operator: ends_with, expected_value: regards", "null", "error: needs text, found null"),
    ("operator: contains_word, expected_value: cat", "a cat.", "passed"),
    (
        "operator: contains_word, expected_value: cat",
        "concatenate",
        "failed: expected text with the word `cat`, found `concatenate`",
    ),
    ("operator: contains_word, expected_value: cat", "[cat, 5]", "error: needs text, found 5 at item [1]"),
    (r"operator: matches, expected_value: '^[A-Z]{3}-\d+$'", "ABC-1", "passed"),
    (
        r"operator: matches, expected_value: '^[A-Z]{3}-\d+$'",
        "abc-1",
        r"failed: expected text that matches `^[A-Z]{3}-\d+$`, found `abc-1`",
    ),
    (r"operator: matches, expected_value: '^[A-Z]{3}-\d+$'", "5", "error: needs text, found 5"),
    ("operator: matches, expected_value: '${other}'", "ABC-1", "error: not a regular expression: unclosed group"),
    (r"operator: matches_regex, expected_value: '^Order \d+$'", "Order 66", "passed"),
    (
        r"operator: matches_regex, expected_value: '^Order \d+$'",
        "Order of the day",
        r"failed: expected text that matches `^Order \d+$`, found `Order of the day`",
    ),
    (
        r"operator: matches_regex, expected_value: '^Order \d+$'",
        "[Order 1, 2]",
        "error: needs text, found 2 at item [1]",
    ),
    ("operator: has_length_equal, expected_value: 3", "[a, b, c]", "passed"),
    ("operator: has_length_equal, expected_value: 3", "[a]", "failed: expected a length of 3, found 1 item"),
    ("operator: has_length_equal, expected_value: 3", "abcd", "failed: expected a length of 3, found 4 characters"),
    ("operator: has_length_equal, expected_value: 3", "{a: 1}", "failed: expected a length of 3, found 1 member"),
    ("operator: has_length_equal, expected_value: 3", "5", "error: needs text, a list or an object, found 5"),
    (
        "operator: has_length_equal, expected_value: '${other}'",
        "[]",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: has_length_greater_than, expected_value: 3", "four", "passed"),
    (
        "operator: has_length_greater_than, expected_value: 3",
        "one",
        "failed: expected a length of more than 3, found 3 characters",
    ),
    (
        "operator: has_length_greater_than, expected_value: '${other}'",
        "four",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: has_length_less_than, expected_value: 3", "no", "passed"),
    (
        "operator: has_length_less_than, expected_value: 3",
        "long",
        "failed: expected a length of less than 3, found 4 characters",
    ),
    (
        "operator: has_length_less_than, expected_value: '${other}'",
        "four",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: has_length_greater_than_or_equal, expected_value: 1", "[a]", "passed"),
    (
        "operator: has_length_greater_than_or_equal, expected_value: 1",
        "''",
        "failed: expected a length of at least 1, found 0 characters",
    ),
    (
        "operator: has_length_greater_than_or_equal, expected_value: 1",
        "[]",
        "failed: expected a length of at least 1, found 0 items",
    ),
    (
        "operator: has_length_greater_than_or_equal, expected_value: '${other}'",
        "four",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: has_length_less_than_or_equal, expected_value: 2", "ab", "passed"),
    (
        "operator: has_length_less_than_or_equal, expected_value: 2",
        "abc",
        "failed: expected a length of at most 2, found 3 characters",
    ),
    (
        "operator: has_length_less_than_or_equal, expected_value: '${other}'",
        "four",
        "error: `expected_value` must be a number, not `(text`",
    ),
    ("operator: is_numeric", "5", "passed"),
    ("operator: is_numeric", "'5'", "failed: expected a number, found `5`, which is text"),
    ("operator: is_string", "text", "passed"),
    ("operator: is_string", "5", "failed: expected text, found 5"),
    ("operator: is_boolean", "true", "passed"),
    ("operator: is_boolean", "'true'", "failed: expected a boolean, found `true`, which is text"),
    ("operator: is_null", "null", "passed"),
    ("operator: is_null", "''", "failed: expected null, found empty text"),
    ("operator: is_array", "[1]", "passed"),
    ("operator: is_array", "1", "failed: expected a list, found 1"),
    ("operator: is_object", "{a: 1}", "passed"),
    ("operator: is_object", "[1]", "failed: expected an object, found [1]"),
    ("operator: is_empty", "''", "passed"),
    ("operator: is_empty", "text", "failed: expected an empty value, found `text`"),
    ("operator: is_empty", "[1]", "failed: expected an empty value, found [1]"),
    ("operator: is_empty", "0", "error: needs null, text, a list or an object, found 0"),
    ("operator: is_not_empty", "text", "passed"),
    ("operator: is_not_empty", "''", "failed: expected a value that is not empty, found empty text"),
    ("operator: is_not_empty", "null", "failed: expected a value that is not empty, found null"),
    ("operator: is_not_empty", "[]", "failed: expected a value that is not empty, found []"),
    ("operator: is_not_empty", "false", "error: needs null, text, a list or an object, found false"),
    ("operator: is_email", "ada@example.org", "passed"),
    ("operator: is_email", "ada at example", "failed: expected an e-mail address, found `ada at example`"),
    ("operator: is_email", "5", "error: needs text, found 5"),
    ("operator: is_url", "https://example.org/x", "passed"),
    ("operator: is_url", "example.org", "failed: expected an http or https address, found `example.org`"),
    ("operator: is_url", "5", "error: needs text, found 5"),
    ("operator: is_uuid", "123e4567-e89b-12d3-a456-426614174000", "passed"),
    ("operator: is_uuid", "abc", "failed: expected a UUID, found `abc`"),
    ("operator: is_uuid", "5", "error: needs text, found 5"),
    ("operator: is_iso8601", "2024-01-31T10:00:00Z", "passed"),
    ("operator: is_iso8601", "31.01.2024", "failed: expected an ISO 8601 date, found `31.01.2024`"),
    ("operator: is_iso8601", "5", "error: needs text, found 5"),
    ("operator: is_json", r#"'{"a": 1}'"#, "passed"),
    ("operator: is_json", "'{a}'", "failed: expected JSON text, found `{a}`"),
    ("operator: is_json", "{a: 1}", r#"error: needs text, found {"a": 1}"#),
    ("operator: in_range, expected_value: [10, 500]", "10", "passed"),
    ("operator: in_range, expected_value: [10, 500]", "9", "failed: expected a number from 10 to 500, found 9"),
    ("operator: in_range, expected_value: [10, 500]", "ten", "error: needs a number, found `ten`, which is text"),
    ("operator: not_in_range, expected_value: [13, 19]", "20", "passed"),
    (
        "operator: not_in_range, expected_value: [13, 19]",
        "13",
        "failed: expected a number below 13 or above 19, found 13",
    ),
    ("operator: not_in_range, expected_value: [13, 19]", "null", "error: needs a number, found null"),
    ("operator: is_positive", "1", "passed"),
    ("operator: is_positive", "0", "failed: expected a number above zero, found 0"),
    ("operator: is_positive", "'1'", "error: needs a number, found `1`, which is text"),
    ("operator: is_negative", "-1", "passed"),
    ("operator: is_negative", "0", "failed: expected a number below zero, found 0"),
    ("operator: is_negative", "'-1'", "error: needs a number, found `-1`, which is text"),
    ("operator: is_zero", "0.0", "passed"),
    ("operator: is_zero", "2", "failed: expected zero, found 2"),
    ("operator: is_zero", "none", "error: needs a number, found `none`, which is text"),
    ("operator: approximately_equals, expected_value: [3.14, 0.01]", "3.1415", "passed"),
    (
        "operator: approximately_equals, expected_value: [3.14, 0.01]",
        "3.2",
        "failed: expected a number within 0.01 of 3.14, found 3.2",
    ),
    (
        "operator: approximately_equals, expected_value: [3.14, 0.01]",
        "pi",
        "error: needs a number, found `pi`, which is text",
    ),
    ("operator: is_alphabetic", "Ärger", "passed"),
    ("operator: is_alphabetic", "abc1", "failed: expected text of letters only, found `abc1`"),
    ("operator: is_alphabetic", "5", "error: needs text, found 5"),
    ("operator: is_alphanumeric", "abc1", "passed"),
    ("operator: is_alphanumeric", "a b", "failed: expected text of letters and digits only, found `a b`"),
    ("operator: is_alphanumeric", "5", "error: needs text, found 5"),
    ("operator: is_lower_case", "a-b", "passed"),
    ("operator: is_lower_case", "aB", "failed: expected text in lower case, found `aB`"),
    ("operator: is_lower_case", "'12'", "error: text without letters has no case"),
    ("operator: is_upper_case", "DE", "passed"),
    ("operator: is_upper_case", "De", "failed: expected text in upper case, found `De`"),
    ("operator: is_upper_case", "5", "error: needs text, found 5"),
    ("operator: exists", "null", "passed"),
    (
        "operator: exists",
        "nothing",
        "failed: expected something, found nothing: the context has no `value`; it has other",
    ),
    ("operator: exists, expected_value: false", "nothing", "passed"),
    ("operator: exists, expected_value: false", "5", "failed: expected nothing, found 5"),
    (
        "operator: exists, expected_value: '${other}'",
        "5",
        "error: `expected_value` must be `true` or `false`, not `(text`",
    ),
    ("operator: boolean_match, expected_value: true", "true", "passed"),
    ("operator: boolean_match, expected_value: true", "yes", "passed"),
    (
        "operator: boolean_match, expected_value: true",
        "false",
        "failed: expected a value that counts as true, found false",
    ),
    (
        "operator: boolean_match, expected_value: true",
        "''",
        "failed: expected a value that counts as true, found empty text",
    ),
    ("operator: boolean_match, expected_value: false", "0", "passed"),
    ("operator: boolean_match, expected_value: false", "1", "failed: expected a value that counts as false, found 1"),
    ("operator: boolean_match, expected_value: null", "null", "passed"),
    ("operator: boolean_match, expected_value: null", "false", "failed: expected null, found false"),
    ("operator: exact_match, expected_value: BCL2", "' bcl2'", "passed"),
    ("operator: exact_match, expected_value: BCL2", "BCL3", "failed: expected `BCL2`, found `BCL3`"),
    ("operator: { type: ExactMatch, normalize: [] }, expected_value: BCL2", "BCL2", "passed"),
    (
        "operator: { type: ExactMatch, normalize: [] }, expected_value: BCL2",
        "bcl2",
        "failed: expected `BCL2`, found `bcl2`",
    ),
    ("operator: { type: ContainsAny, substrings: [apoptosis, autophagy] }", "by apoptosis", "passed"),
    (
        "operator: { type: ContainsAny, substrings: [apoptosis, autophagy] }",
        "by chance",
        "failed: expected text with `apoptosis` or `autophagy`, found `by chance`",
    ),
    ("operator: { type: ContainsAll, substrings: [randomized, blind] }", "'randomized, double-blind'", "passed"),
    (
        "operator: { type: ContainsAll, substrings: [randomized, blind] }",
        "blind",
        "failed: expected text with `randomized` and `blind`, found `blind`",
    ),
    (r"operator: { type: RegexMatch, pattern: 'NCT\d{8}' }", "NCT01234567", "passed"),
    (
        r"operator: { type: RegexMatch, pattern: 'NCT\d{8}' }",
        "NCT1",
        r"failed: expected text that matches `NCT\d{8}`, found `NCT1`",
    ),
    ("operator: numeric_exact, expected_value: 342", "'342.0'", "passed"),
    ("operator: numeric_exact, expected_value: 342", "341", "failed: expected the number 342, found 341"),
    ("operator: numeric_exact, expected_value: 342", "many", "error: `many` is not a number"),
    ("operator: numeric_exact, expected_value: 342", "null", "error: needs a number, found null"),
    ("operator: { type: NumericTolerance, tolerance: 0.05 }, expected_value: 100", "104", "passed"),
    (
        "operator: { type: NumericTolerance, tolerance: 0.05 }, expected_value: 100",
        "106",
        "failed: expected a number within 5% of 100, found 106",
    ),
    (
        "operator: { type: NumericTolerance, tolerance: 0.05 }, expected_value: 100",
        "a lot",
        "error: `a lot` is not a number",
    ),
    ("operator: { type: NumericTolerance, tolerance: 5, mode: absolute }, expected_value: 100", "105", "passed"),
    (
        "operator: { type: NumericTolerance, tolerance: 5, mode: absolute }, expected_value: 100",
        "106",
        "failed: expected a number within 5 of 100, found 106",
    ),
    ("operator: { type: NumericRange, min: 0, max: 0.05 }", "0.01", "passed"),
    (
        "operator: { type: NumericRange, min: 0, max: 0.05 }",
        "0.06",
        "failed: expected a number from 0 to 0.05, found 0.06",
    ),
    ("operator: { type: NumericRange, min: 0, max: 0.05 }", "small", "error: `small` is not a number"),
    ("operator: { type: NumericRange, min: 0, max: 1, exclusive_min: true, exclusive_max: true }", "0.5", "passed"),
    (
        "operator: { type: NumericRange, min: 0, max: 1, exclusive_min: true, exclusive_max: true }",
        "1",
        "failed: expected a number above 0 and below 1, found 1",
    ),
    ("operator: { type: NumericRange, min: 0 }", "0", "passed"),
    ("operator: { type: NumericRange, min: 0 }", "-1", "failed: expected a number of at least 0, found -1"),
    ("operator: numeric_minimum, expected_value: 18", "18", "passed"),
    ("operator: numeric_minimum, expected_value: 18", "17", "failed: expected a number of at least 18, found 17"),
    ("operator: numeric_minimum, expected_value: 18", "[18]", "error: needs a number, found [18]"),
    ("operator: { type: NumericMinimum, exclusive: true }, expected_value: 18", "19", "passed"),
    (
        "operator: { type: NumericMinimum, exclusive: true }, expected_value: 18",
        "18",
        "failed: expected a number above 18, found 18",
    ),
    ("operator: numeric_maximum, expected_value: 100", "100", "passed"),
    ("operator: numeric_maximum, expected_value: 100", "101", "failed: expected a number of at most 100, found 101"),
    ("operator: numeric_maximum, expected_value: 100", "{}", "error: needs a number, found {}"),
    ("operator: { type: NumericMaximum, exclusive: true }, expected_value: 100", "99", "passed"),
    (
        "operator: { type: NumericMaximum, exclusive: true }, expected_value: 100",
        "100",
        "failed: expected a number below 100, found 100",
    ),
    ("operator: { type: NumericGraded, cutoff: 0.1 }, expected_value: 100", "105", "passed"),
    (
        "operator: { type: NumericGraded, cutoff: 0.1 }, expected_value: 100",
        "120",
        "failed: expected a number within 10% of 100, found 120",
    ),
    ("operator: { type: NumericGraded, cutoff: 0.1 }, expected_value: 100", "much", "error: `much` is not a number"),
    (
        "operator: { type: NumericGraded, cutoff: 10, full_credit: 2, mode: absolute }, expected_value: 100",
        "102",
        "passed",
    ),
    (
        "operator: { type: NumericGraded, cutoff: 10, full_credit: 2, mode: absolute }, expected_value: 100",
        "105",
        "failed: expected a number within 2 of 100, found 105",
    ),
    ("operator: { type: NumericRangeGraded, min: 10, max: 20, margin: 5 }", "10", "passed"),
    (
        "operator: { type: NumericRangeGraded, min: 10, max: 20, margin: 5 }",
        "21",
        "failed: expected a number from 10 to 20, found 21",
    ),
    ("operator: { type: NumericRangeGraded, min: 10, max: 20, margin: 5 }", "much", "error: `much` is not a number"),
    ("operator: { type: NumericThresholdGraded, direction: max, margin: 0.5 }, expected_value: 10", "10", "passed"),
    (
        "operator: { type: NumericThresholdGraded, direction: max, margin: 0.5 }, expected_value: 10",
        "11",
        "failed: expected a number of at most 10, found 11",
    ),
    (
        "operator: { type: NumericThresholdGraded, direction: max, margin: 0.5 }, expected_value: 10",
        "much",
        "error: `much` is not a number",
    ),
    (
        "operator: { type: NumericThresholdGraded, direction: min, margin: 1, exclusive: true }, expected_value: 10",
        "11",
        "passed",
    ),
    (
        "operator: { type: NumericThresholdGraded, direction: min, margin: 1, exclusive: true }, expected_value: 10",
        "10",
        "failed: expected a number above 10, found 10",
    ),
    ("operator: set_containment, expected_value: [a, b]", "[b, a]", "passed"),
    (
        "operator: set_containment, expected_value: [a, b]",
        "[a]",
        r#"failed: expected exactly the elements of ["a", "b"], found ["a"]"#,
    ),
    ("operator: set_containment, expected_value: [a, b]", "5", "error: needs a list, found 5"),
    ("operator: set_containment, expected_value: [a, b]", "[[a]]", r#"error: ["a"] cannot be an element of a set"#),
    ("operator: { type: SetContainment, mode: subset }, expected_value: [a, b]", "[a]", "passed"),
    (
        "operator: { type: SetContainment, mode: subset }, expected_value: [a, b]",
        "[c]",
        r#"failed: expected only elements of ["a", "b"], found ["c"]"#,
    ),
    ("operator: { type: SetContainment, mode: superset }, expected_value: [a]", "[a, b]", "passed"),
    (
        "operator: { type: SetContainment, mode: superset }, expected_value: [a]",
        "[b]",
        r#"failed: expected all elements of ["a"], found ["b"]"#,
    ),
    (
        "operator: { type: SetContainment, mode: overlap, min_overlap: 2 }, expected_value: [a, b, c]",
        "[a, b]",
        "passed",
    ),
    (
        "operator: { type: SetContainment, mode: overlap, min_overlap: 2 }, expected_value: [a, b, c]",
        "[a, x]",
        r#"failed: expected at least 2 elements of ["a", "b", "c"], found ["a", "x"]"#,
    ),
    ("operator: ordered_match, expected_value: [Smith J, Jones A]", "[smith j, jones a]", "passed"),
    (
        "operator: ordered_match, expected_value: [Smith J, Jones A]",
        "[Jones A, Smith J]",
        r#"failed: expected the sequence ["Smith J", "Jones A"], found ["Jones A", "Smith J"]"#,
    ),
    ("operator: ordered_match, expected_value: [Smith J, Jones A]", "5", "error: needs a list, found 5"),
    ("operator: literal_match, expected_value: III", "III", "passed"),
    ("operator: literal_match, expected_value: III", "iii", "failed: expected `III`, found `iii`"),
    ("operator: literal_match, expected_value: III", "3", "failed: expected the text `III`, found the number 3"),
    ("operator: date_match, expected_value: 2016-04-11", "'April 11, 2016'", "passed"),
    (
        "operator: date_match, expected_value: 2016-04-11",
        "2016-04-12",
        "failed: expected the date `2016-04-11`, found `2016-04-12`",
    ),
    (
        "operator: date_match, expected_value: 2016-04-11",
        "soon",
        "failed: expected the date `2016-04-11`, found `soon`, which is not a date",
    ),
    (
        "operator: date_match, expected_value: 2016-04-11",
        "April 2016",
        "error: one date leaves out a year, month or day that the other has, so they cannot be compared",
    ),
    ("operator: { type: DateMatch, format: '%d.%m.%Y' }, expected_value: 11.04.2016", "11.04.2016", "passed"),
    (
        "operator: { type: DateMatch, format: '%d.%m.%Y' }, expected_value: 11.04.2016",
        "2016-04-11",
        "failed: expected the date `11.04.2016` written as `%d.%m.%Y`, found `2016-04-11`, which is not written so",
    ),
    ("operator: { type: DateTolerance, tolerance: 30 }, expected_value: 2016-04-11", "2016-05-01", "passed"),
    (
        "operator: { type: DateTolerance, tolerance: 30 }, expected_value: 2016-04-11",
        "2016-06-01",
        "failed: expected a date within 30 days of `2016-04-11`, found `2016-06-01`",
    ),
    (
        "operator: { type: DateTolerance, tolerance: 30 }, expected_value: 2016-04-11",
        "April 2016",
        "error: one date leaves out a year, month or day that the other has, so they cannot be compared",
    ),
    ("operator: { type: DateRange, min: 2015-01-01, max: 2015-12-31 }", "2015-06-30", "passed"),
    (
        "operator: { type: DateRange, min: 2015-01-01, max: 2015-12-31 }",
        "2016-01-01",
        "failed: expected a date from `2015-01-01` to `2015-12-31`, found `2016-01-01`",
    ),
    (
        "operator: { type: DateRange, min: 2015-01-01, max: 2015-12-31 }",
        "June 2015",
        "error: one date leaves out a year, month or day that the other has, so they cannot be compared",
    ),
    (
        "operator: { type: DateTolerance, tolerance: 1, unit: hours }, expected_value: 2016-04-11T10:00",
        "'10:30, 11 April 2016'",
        "passed",
    ),
    (
        "operator: { type: DateTolerance, tolerance: 1, unit: hours }, expected_value: 2016-04-11T10:00",
        "2016-04-11T12:00",
        "failed: expected a date within 1 hour of `2016-04-11T10:00`, found `2016-04-11T12:00`",
    ),
    ("operator: { type: DateRange, min: 2015-01-01 }", "2016-06-30", "passed"),
    (
        "operator: { type: DateRange, min: 2015-01-01 }",
        "2014-01-01",
        "failed: expected a date from `2015-01-01` on, found `2014-01-01`",
    ),
    (r"operator: { type: TraceRegex, pattern: '\[\d+\]' }", "'see [1]'", "passed"),
    (
        r"operator: { type: TraceRegex, pattern: '\[\d+\]' }",
        "see above",
        r"failed: expected text that matches `\[\d+\]`, found `see above`",
    ),
    (r"operator: { type: TraceRegex, pattern: '\[\d+\]' }", "5", "error: needs text, found 5"),
    (r"operator: { type: TraceRegex, pattern: '\[\d+\]', count_min: 2 }", "'[1] [2]'", "passed"),
    (
        r"operator: { type: TraceRegex, pattern: '\[\d+\]', count_min: 2 }",
        "'[1]'",
        r"failed: expected text with at least 2 matches of `\[\d+\]`, found `[1]`",
    ),
    ("operator: { type: TraceContains, substring: limitation }", "one limitation", "passed"),
    (
        "operator: { type: TraceContains, substring: limitation }",
        "none",
        "failed: expected text with `limitation`, found `none`",
    ),
    ("operator: { type: TraceContains, substring: limitation }", "null", "error: needs text, found null"),
    ("operator: { type: TraceLength, max: 2, unit: words }", "two words", "passed"),
    (
        "operator: { type: TraceLength, max: 2, unit: words }",
        "one two three",
        "failed: expected text of at most 2 words, found 3 words",
    ),
    ("operator: { type: TraceLength, max: 2, unit: words }", "5", "error: needs text, found 5"),
    ("operator: { type: TraceLength, min: 1 }", "a", "passed"),
    (
        "operator: { type: TraceLength, min: 1 }",
        "''",
        "failed: expected text of at least 1 character, found 0 characters",
    ),
    ("operator: { type: TraceLength, min: 3, max: 5 }", "four", "passed"),
    (
        "operator: { type: TraceLength, min: 3, max: 5 }",
        "seven!",
        "failed: expected text of 3 to 5 characters, found 6 characters",
    ),
    ("operator: { type: TraceLength, min: 3, max: 5 }", "[a]", r#"error: needs text, found ["a"]"#),
];
