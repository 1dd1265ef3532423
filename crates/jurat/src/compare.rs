//! How a value is compared: every operator as a function, primitives by name.
//!
//! A [`Comparison`] is an operator with its operand. An [`Assertion`](crate::Assertion) makes one at a path, a
//! [`Judge`](crate::Judge) may make one of what it answers. Functions take what their operator takes, so that `greater_than("7")` does not
//! compile; what only the data shows, such as a pattern that is none, is reported by `build`. `docs/reference/comparisons.md` says exactly
//! what passes.
//!
//! ```
//! use jurat::Assertion;
//! use jurat::compare::{contains_any, equals, found_at, greater_than_or_equal, primitive};
//!
//! Assertion::new("is_kitchen", "classification.category", equals("kitchen"));
//! Assertion::new("good", "expert.score", greater_than_or_equal(7));
//! Assertion::new("warns", "answer", contains_any(["unplug", "switch off"]));
//! // What each row expects:
//! Assertion::new("right", "answer", equals(found_at("reference")));
//! // Verification primitives have parameters:
//! Assertion::new("near", "answer", primitive("numeric_tolerance").with("tolerance", 0.05).against(12));
//! ```

use jurat_format::value::{Val, Value};
use serde::{Serialize, Serializer};

use crate::members::Members;
use crate::value::{Given, given};

/// An operator with its operand; the functions of this module make them.
///
/// ```
/// use jurat::Assertion;
/// use jurat::compare::{greater_than, is_not_empty};
///
/// // Every item of a list, by one of its members; a row without the list fails rather than being an error.
/// Assertion::new("all_priced", "products", greater_than(0).in_each("price").failing_when_missing());
/// Assertion::new("named", "products[0].name", is_not_empty());
/// ```
#[derive(Debug, Clone)]
pub struct Comparison {
    name: String,
    parameters: Option<Vec<(String, Given)>>,
    expected: Option<Given>,
    item_path: Option<String>,
    fails_when_missing: bool,
}

impl Comparison {
    fn operator(name: &str, expected: Option<Given>) -> Comparison {
        Comparison { name: name.to_owned(), parameters: None, expected, item_path: None, fails_when_missing: false }
    }

    /// The same with an operand: what the value is compared with.
    pub fn against(self, expected: impl Serialize) -> Comparison {
        Comparison { expected: Some(given(&expected)), ..self }
    }

    /// The same with a parameter. Only primitives have any.
    pub fn with(mut self, parameter: impl Into<String>, value: impl Serialize) -> Comparison {
        self.parameters.get_or_insert_default().push((parameter.into(), given(&value)));
        self
    }

    /// The same, made at this path inside each item of a list.
    pub fn in_each(self, path: impl Into<String>) -> Comparison {
        Comparison { item_path: Some(path.into()), ..self }
    }

    /// The same, but a path that finds nothing is a failure. It is an error otherwise: a typo and an absent answer look the same.
    pub fn failing_when_missing(self) -> Comparison {
        Comparison { fails_when_missing: true, ..self }
    }

    /// The keys of the comparison, as they stand in a task.
    pub(crate) fn members(self, path: Option<String>) -> Members {
        let Comparison { name, parameters, expected, item_path, fails_when_missing } = self;
        let mut members = Members::default();
        members.put("field_path", path.map_or(Val::Null, Val::from));
        if let Some(path) = item_path {
            members.put("item_field_path", path);
        }
        match parameters {
            None => members.put("operator", name),
            Some(parameters) => {
                let mut operator = Members::default();
                operator.put("type", name);
                parameters.into_iter().for_each(|(name, value)| operator.given(name, value));
                members.object("operator", operator);
            }
        }
        if let Some(expected) = expected {
            members.given("expected_value", expected.map(as_given));
        }
        if fails_when_missing {
            members.put("missing", "fail");
        }
        members
    }
}

/// The operand as the definition writes it. Texts with `${…}` in them are filled from each case there; what a program gives is compared as it is, but for
/// [`found_at`].
fn as_given(value: Value) -> Value {
    let is_found = value.as_str().is_some_and(|it| it.starts_with("${") && it.ends_with('}'));
    if is_found || !would_be_filled(&value) {
        return value;
    }
    Val::Map([("literal", value)].into_iter().collect())
}

fn would_be_filled(value: &Value) -> bool {
    match value {
        Val::Str(text) => text.contains("${"),
        Val::List(items) => items.iter().any(would_be_filled),
        Val::Map(map) => {
            let is_form = map.len() == 1 && ["jinja", "literal"].iter().any(|it| map.get(it).is_some());
            is_form || map.iter().any(|(_, it)| would_be_filled(it))
        }
        _ => false,
    }
}

/// An operator by its name, for those who have it as text.
///
/// ```
/// # use jurat::{Assertion, compare::operator};
/// Assertion::new("short", "answer", operator("has_length_less_than").against(200));
/// ```
pub fn operator(name: &str) -> Comparison {
    Comparison::operator(name, None)
}

/// A verification primitive by its name: it works on text and numbers as Python sees them, and has parameters.
///
/// ```
/// # use jurat::{Assertion, compare::primitive};
/// Assertion::new("total", "answer", primitive("numeric_tolerance").with("tolerance", 0.01).against(99.9));
/// ```
pub fn primitive(name: &str) -> Comparison {
    Comparison { parameters: Some(Vec::new()), ..Comparison::operator(name, None) }
}

/// What a path of the case leads to, as an operand: each row then says what is expected of it.
///
/// ```
/// # use jurat::{Assertion, compare::{equals, found_at, less_than}};
/// Assertion::new("right", "answer", equals(found_at("reference.answer")));
/// Assertion::new("quick", "latency_ms", less_than(found_at("limit_ms")));
/// ```
pub fn found_at(path: impl Into<String>) -> FoundAt {
    FoundAt(path.into())
}

/// An operand that each row supplies; [`found_at`] makes it.
#[derive(Debug, Clone)]
pub struct FoundAt(String);

impl Serialize for FoundAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("${{{}}}", self.0))
    }
}

/// A number as an operand, or [where one is found](found_at).
#[derive(Debug, Clone)]
pub struct Number(Given);

/// Text as an operand, or [where it is found](found_at).
#[derive(Debug, Clone)]
pub struct Text(Given);

/// A list as an operand, or [where one is found](found_at).
#[derive(Debug, Clone)]
pub struct List(Given);

macro_rules! whole_numbers {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Number {
            fn from(number: $kind) -> Number {
                Number(given(&number))
            }
        })*
    };
}

whole_numbers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl From<f64> for Number {
    fn from(number: f64) -> Number {
        // `serde_json` writes null for these, and a comparison with null is another one.
        Number(if number.is_finite() { given(&number) } else { Err(format!("{number} is no number of JSON")) })
    }
}

impl From<FoundAt> for Number {
    fn from(found: FoundAt) -> Number {
        Number(given(&found))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(given(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(given(&text))
    }
}

impl From<FoundAt> for Text {
    fn from(found: FoundAt) -> Text {
        Text(given(&found))
    }
}

impl<T: Serialize> From<Vec<T>> for List {
    fn from(items: Vec<T>) -> List {
        List(given(&items))
    }
}

impl<T: Serialize> From<&[T]> for List {
    fn from(items: &[T]) -> List {
        List(given(items))
    }
}

impl<T: Serialize, const N: usize> From<[T; N]> for List {
    fn from(items: [T; N]) -> List {
        List(given(items.as_slice()))
    }
}

impl From<FoundAt> for List {
    fn from(found: FoundAt) -> List {
        List(given(&found))
    }
}

/// Two numbers as one operand.
fn pair(first: Number, second: Number) -> Given {
    Ok(Val::List(vec![first.0?, second.0?]))
}

/// One function for each operator: what it takes, its name, what passes, and an example.
macro_rules! operators {
    ($($takes:ident $name:ident $summary:literal $example:expr;)*) => {
        $(operators!(@ $takes $name $summary $example);)*

        /// Every operator that has a function: its name, what passes, and an example.
        #[cfg(test)]
        fn every() -> Vec<(&'static str, &'static str, Comparison)> {
            vec![$((stringify!($name), $summary, $example)),*]
        }
    };
    (@ nothing $name:ident $summary:literal $example:expr) => {
        operators!(@ function $name $summary $example, () => None);
    };
    (@ any $name:ident $summary:literal $example:expr) => {
        operators!(@ function $name $summary $example, (operand: impl Serialize) => Some(given(&operand)));
    };
    (@ number $name:ident $summary:literal $example:expr) => {
        operators!(@ function $name $summary $example, (operand: impl Into<Number>) => Some(operand.into().0));
    };
    (@ text $name:ident $summary:literal $example:expr) => {
        operators!(@ function $name $summary $example, (operand: impl Into<Text>) => Some(operand.into().0));
    };
    (@ list $name:ident $summary:literal $example:expr) => {
        operators!(@ function $name $summary $example, (operand: impl Into<List>) => Some(operand.into().0));
    };
    (@ range $name:ident $summary:literal $example:expr) => {
        operators!(
            @ function $name $summary $example,
            (lowest: impl Into<Number>, highest: impl Into<Number>) => Some(pair(lowest.into(), highest.into()))
        );
    };
    (@ tolerance $name:ident $summary:literal $example:expr) => {
        operators!(
            @ function $name $summary $example,
            (value: impl Into<Number>, tolerance: impl Into<Number>) => Some(pair(value.into(), tolerance.into()))
        );
    };
    (@ function $name:ident $summary:literal $example:expr, ($($operand:ident: $kind:ty),*) => $expected:expr) => {
        #[doc = concat!("The value ", $summary, ".")]
        ///
        /// ```
        #[doc = concat!("# use jurat::{Assertion, compare::", stringify!($name), "};")]
        #[doc = concat!("Assertion::new(\"", stringify!($name), "\", \"answer\", ", stringify!($example), ");")]
        /// ```
        pub fn $name($($operand: $kind),*) -> Comparison {
            Comparison::operator(stringify!($name), $expected)
        }
    };
}

operators! {
    any equals "equals the operand; numbers by value, and text that reads as a number equals that number" equals("kitchen");
    any not_equal "does not equal the operand" not_equal("unknown");

    number greater_than "is a number greater than the operand" greater_than(0);
    number greater_than_or_equal "is a number greater than the operand, or equal to it" greater_than_or_equal(7);
    number less_than "is a number less than the operand" less_than(0.5);
    number less_than_or_equal "is a number less than the operand, or equal to it" less_than_or_equal(10);

    any contains "is text with the operand in it, or a list that has it as an item" contains("refund");
    any not_contains "is text without the operand in it, or a list that does not have it as an item" not_contains("sorry");
    list contains_all "is a list that has every item of the operand" contains_all(["search", "book"]);
    list contains_any "is a list that has an item of the operand, or text with one of its texts in it" contains_any(["unplug", "switch off"]);
    list contains_none "is a list that has no item of the operand" contains_none(["delete"]);
    nothing has_unique_items "is a list in which no item comes twice" has_unique_items();
    list sequence_matches "is a list with the operand's items in the operand's order and nothing else" sequence_matches([1, 2, 3]);

    text starts_with "is text that starts with the operand" starts_with("Dear");
    text ends_with "is text that ends with the operand" ends_with(".");
    text contains_word "is text in which the operand stands as a whole word" contains_word("gas");
    text matches "is text that the regular expression matches somewhere" matches(r"^INV-\d{4}$");
    text not_starts_with "is text that does not start with the operand" not_starts_with("Dear");
    text not_ends_with "is text that does not end with the operand" not_ends_with(".");
    text not_contains_word "is text in which the operand does not stand as a whole word" not_contains_word("gas");
    text not_matches "is text that the regular expression matches nowhere" not_matches(r"inv-\d{4}");
    text equals_ignoring_case "is text that equals the operand without regard to case" equals_ignoring_case("yes");
    text not_equals_ignoring_case "is text that differs from the operand in more than case" not_equals_ignoring_case("yes");
    text contains_ignoring_case "is text with the operand in it, without regard to case" contains_ignoring_case("refund");
    text not_contains_ignoring_case "is text without the operand in it, whatever its case" not_contains_ignoring_case("refund");
    text starts_with_ignoring_case "is text that starts with the operand, without regard to case" starts_with_ignoring_case("Dear");
    text not_starts_with_ignoring_case "is text that does not start with the operand, whatever its case" not_starts_with_ignoring_case("Dear");
    text ends_with_ignoring_case "is text that ends with the operand, without regard to case" ends_with_ignoring_case(".");
    text not_ends_with_ignoring_case "is text that does not end with the operand, whatever its case" not_ends_with_ignoring_case(".");
    text contains_word_ignoring_case "is text in which the operand stands as a whole word, without regard to case" contains_word_ignoring_case("gas");
    text not_contains_word_ignoring_case "is text in which the operand does not stand as a whole word, whatever its case" not_contains_word_ignoring_case("gas");
    text matches_ignoring_case "is text that the regular expression matches somewhere, without regard to case" matches_ignoring_case(r"inv-\d{4}");
    text not_matches_ignoring_case "is text that the regular expression matches nowhere, whatever the case" not_matches_ignoring_case(r"inv-\d{4}");

    number has_length_equal "has exactly this number of characters, items or members" has_length_equal(3);
    number has_length_greater_than "has more characters, items or members" has_length_greater_than(20);
    number has_length_less_than "has fewer characters, items or members" has_length_less_than(200);
    number has_length_greater_than_or_equal "has this number of characters, items or members, or more" has_length_greater_than_or_equal(1);
    number has_length_less_than_or_equal "has this number of characters, items or members, or fewer" has_length_less_than_or_equal(5);

    nothing is_numeric "is a number; text that reads as one is not" is_numeric();
    nothing is_string "is text" is_string();
    nothing is_boolean "is `true` or `false`" is_boolean();
    nothing is_null "is null" is_null();
    nothing is_array "is a list" is_array();
    nothing is_object "is an object" is_object();

    nothing is_empty "is null, or text, a list or an object with nothing in it" is_empty();
    nothing is_not_empty "is text, a list or an object with something in it" is_not_empty();

    nothing is_email "is an e-mail address" is_email();
    nothing is_url "is an `http` or `https` address without a port" is_url();
    nothing is_uuid "is a UUID with its four hyphens" is_uuid();
    nothing is_iso8601 "has the form of an ISO 8601 date, or of a date with a time to the second" is_iso8601();
    nothing is_json "is text that parses as JSON" is_json();

    range in_range "is a number between the two of the operand, both included" in_range(1, 10);
    range not_in_range "is a number below the first or above the second of the operand" not_in_range(-1, 1);
    nothing is_positive "is a number above zero" is_positive();
    nothing is_negative "is a number below zero" is_negative();
    nothing is_zero "is zero" is_zero();
    tolerance approximately_equals "is a number within the tolerance of the operand's value" approximately_equals(19.99, 0.01);

    nothing is_alphabetic "is text of letters only; empty text passes" is_alphabetic();
    nothing is_alphanumeric "is text of letters and digits only; empty text passes" is_alphanumeric();
    nothing is_lower_case "is text whose letters are all lower case; text without letters is an error" is_lower_case();
    nothing is_upper_case "is text whose letters are all upper case; text without letters is an error" is_upper_case();

    nothing exists "exists, `null` included; with `expected_value: false`, does not exist" exists();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jurat_compare::{Origin, entries, find};

    use super::*;
    use crate::{Assertion, Suite};

    #[test]
    fn every_operator_has_a_function_that_says_what_the_catalogue_says() {
        let named: BTreeSet<String> = every().iter().map(|(name, ..)| (*name).to_owned()).collect();
        let operators = entries().filter(|it| it.origin == Origin::Operator).map(jurat_compare::Entry::snake_case);
        // Another name for `matches`.
        let expected: BTreeSet<String> = operators.filter(|it| it != "matches_regex").collect();
        assert_eq!(named, expected);
        for (name, summary, _) in every() {
            assert_eq!(find(name).first().map(|it| it.summary), Some(summary), "{name}");
        }
    }

    #[test]
    fn every_example_is_a_comparison() {
        for (name, _, comparison) in every() {
            let task = Assertion::new(name, "answer", comparison);
            let built = Suite::builder("operators").records_at_run().task(task).build();
            let suite = built.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(suite.warnings().is_empty(), "{name}: {}", suite.warnings());
        }
    }
}
