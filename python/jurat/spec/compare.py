"""Comparisons: what a value must be. `docs/reference/comparisons.md` says exactly what passes."""

# Made from the JSON Schema of suites by python/tests/spec_source.py: do not edit.

from __future__ import annotations

from typing import Any

from jurat.spec.comparison import Comparison, by

__all__ = [
    "Comparison",
    "approximately_equals",
    "by",
    "contains",
    "contains_all",
    "contains_any",
    "contains_ignoring_case",
    "contains_none",
    "contains_word",
    "contains_word_ignoring_case",
    "ends_with",
    "ends_with_ignoring_case",
    "equals",
    "equals_ignoring_case",
    "exists",
    "greater_than",
    "greater_than_or_equal",
    "has_length_equal",
    "has_length_greater_than",
    "has_length_greater_than_or_equal",
    "has_length_less_than",
    "has_length_less_than_or_equal",
    "has_unique_items",
    "in_range",
    "is_alphabetic",
    "is_alphanumeric",
    "is_array",
    "is_boolean",
    "is_email",
    "is_empty",
    "is_iso8601",
    "is_json",
    "is_lower_case",
    "is_negative",
    "is_not_empty",
    "is_null",
    "is_numeric",
    "is_object",
    "is_positive",
    "is_string",
    "is_upper_case",
    "is_url",
    "is_uuid",
    "is_zero",
    "less_than",
    "less_than_or_equal",
    "matches",
    "matches_ignoring_case",
    "matches_regex",
    "not_contains",
    "not_contains_ignoring_case",
    "not_contains_word",
    "not_contains_word_ignoring_case",
    "not_ends_with",
    "not_ends_with_ignoring_case",
    "not_equal",
    "not_equals_ignoring_case",
    "not_in_range",
    "not_matches",
    "not_matches_ignoring_case",
    "not_starts_with",
    "not_starts_with_ignoring_case",
    "sequence_matches",
    "starts_with",
    "starts_with_ignoring_case",
]


def equals(expected: Any) -> Comparison:
    """Passes if the value equals the operand; numbers by value, and text that reads as a number equals that number.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("equals", expected)


def not_equal(expected: Any) -> Comparison:
    """Passes if the value does not equal the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_equal", expected)


def greater_than(expected: Any) -> Comparison:
    """Passes if the value is a number greater than the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("greater_than", expected)


def greater_than_or_equal(expected: Any) -> Comparison:
    """Passes if the value is a number greater than the operand, or equal to it.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("greater_than_or_equal", expected)


def less_than(expected: Any) -> Comparison:
    """Passes if the value is a number less than the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("less_than", expected)


def less_than_or_equal(expected: Any) -> Comparison:
    """Passes if the value is a number less than the operand, or equal to it.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("less_than_or_equal", expected)


def contains(expected: Any) -> Comparison:
    """Passes if the value is text with the operand in it, or a list that has it as an item.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains", expected)


def not_contains(expected: Any) -> Comparison:
    """Passes if the value is text without the operand in it, or a list that does not have it as an item.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_contains", expected)


def contains_all(expected: Any) -> Comparison:
    """Passes if the value has all of the texts in it.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains_all", expected)


def contains_any(expected: Any) -> Comparison:
    """Passes if the value has one of the texts in it.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains_any", expected)


def contains_none(expected: Any) -> Comparison:
    """Passes if the value is a list that has no item of the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains_none", expected)


def has_unique_items() -> Comparison:
    """Passes if the value is a list in which no item comes twice."""
    return Comparison("has_unique_items")


def sequence_matches(expected: Any) -> Comparison:
    """Passes if the value is a list with the operand's items in the operand's order and nothing else.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("sequence_matches", expected)


def starts_with(expected: Any) -> Comparison:
    """Passes if the value is text that starts with the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("starts_with", expected)


def ends_with(expected: Any) -> Comparison:
    """Passes if the value is text that ends with the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("ends_with", expected)


def contains_word(expected: Any) -> Comparison:
    """Passes if the value is text in which the operand stands as a whole word.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains_word", expected)


def matches(expected: Any) -> Comparison:
    """Passes if the value is text that the regular expression matches somewhere.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("matches", expected)


def matches_regex(expected: Any) -> Comparison:
    """Passes if the value is text that the regular expression matches somewhere; another name for `matches`.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("matches_regex", expected)


def not_starts_with(expected: Any) -> Comparison:
    """Passes if the value is text that does not start with the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_starts_with", expected)


def not_ends_with(expected: Any) -> Comparison:
    """Passes if the value is text that does not end with the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_ends_with", expected)


def not_contains_word(expected: Any) -> Comparison:
    """Passes if the value is text in which the operand does not stand as a whole word.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_contains_word", expected)


def not_matches(expected: Any) -> Comparison:
    """Passes if the value is text that the regular expression matches nowhere.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_matches", expected)


def equals_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that equals the operand without regard to case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("equals_ignoring_case", expected)


def not_equals_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that differs from the operand in more than case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_equals_ignoring_case", expected)


def contains_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text with the operand in it, without regard to case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains_ignoring_case", expected)


def not_contains_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text without the operand in it, whatever its case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_contains_ignoring_case", expected)


def starts_with_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that starts with the operand, without regard to case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("starts_with_ignoring_case", expected)


def not_starts_with_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that does not start with the operand, whatever its case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_starts_with_ignoring_case", expected)


def ends_with_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that ends with the operand, without regard to case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("ends_with_ignoring_case", expected)


def not_ends_with_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that does not end with the operand, whatever its case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_ends_with_ignoring_case", expected)


def contains_word_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text in which the operand stands as a whole word, without regard to case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("contains_word_ignoring_case", expected)


def not_contains_word_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text in which the operand does not stand as a whole word, whatever its case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_contains_word_ignoring_case", expected)


def matches_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that the regular expression matches somewhere, without regard to case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("matches_ignoring_case", expected)


def not_matches_ignoring_case(expected: Any) -> Comparison:
    """Passes if the value is text that the regular expression matches nowhere, whatever the case.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_matches_ignoring_case", expected)


def has_length_equal(expected: Any) -> Comparison:
    """Passes if the value has exactly this number of characters, items or members.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("has_length_equal", expected)


def has_length_greater_than(expected: Any) -> Comparison:
    """Passes if the value has more characters, items or members.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("has_length_greater_than", expected)


def has_length_less_than(expected: Any) -> Comparison:
    """Passes if the value has fewer characters, items or members.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("has_length_less_than", expected)


def has_length_greater_than_or_equal(expected: Any) -> Comparison:
    """Passes if the value has this number of characters, items or members, or more.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("has_length_greater_than_or_equal", expected)


def has_length_less_than_or_equal(expected: Any) -> Comparison:
    """Passes if the value has this number of characters, items or members, or fewer.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("has_length_less_than_or_equal", expected)


def is_numeric() -> Comparison:
    """Passes if the value is a number; text that reads as one is not."""
    return Comparison("is_numeric")


def is_string() -> Comparison:
    """Passes if the value is text."""
    return Comparison("is_string")


def is_boolean() -> Comparison:
    """Passes if the value is `true` or `false`."""
    return Comparison("is_boolean")


def is_null() -> Comparison:
    """Passes if the value is null."""
    return Comparison("is_null")


def is_array() -> Comparison:
    """Passes if the value is a list."""
    return Comparison("is_array")


def is_object() -> Comparison:
    """Passes if the value is an object."""
    return Comparison("is_object")


def is_empty() -> Comparison:
    """Passes if the value is null, or text, a list or an object with nothing in it."""
    return Comparison("is_empty")


def is_not_empty() -> Comparison:
    """Passes if the value is text, a list or an object with something in it."""
    return Comparison("is_not_empty")


def is_email() -> Comparison:
    """Passes if the value is an e-mail address."""
    return Comparison("is_email")


def is_url() -> Comparison:
    """Passes if the value is an `http` or `https` address without a port."""
    return Comparison("is_url")


def is_uuid() -> Comparison:
    """Passes if the value is a UUID with its four hyphens."""
    return Comparison("is_uuid")


def is_iso8601() -> Comparison:
    """Passes if the value has the form of an ISO 8601 date, or of a date with a time to the second."""
    return Comparison("is_iso8601")


def is_json() -> Comparison:
    """Passes if the value is text that parses as JSON."""
    return Comparison("is_json")


def in_range(expected: Any) -> Comparison:
    """Passes if the value is a number between the two of the operand, both included.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("in_range", expected)


def not_in_range(expected: Any) -> Comparison:
    """Passes if the value is a number below the first or above the second of the operand.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("not_in_range", expected)


def is_positive() -> Comparison:
    """Passes if the value is a number above zero."""
    return Comparison("is_positive")


def is_negative() -> Comparison:
    """Passes if the value is a number below zero."""
    return Comparison("is_negative")


def is_zero() -> Comparison:
    """Passes if the value is zero."""
    return Comparison("is_zero")


def approximately_equals(expected: Any) -> Comparison:
    """Passes if the value is a number within the tolerance of the operand's value.

    Args:
        expected: What the value is compared with; a text that is only `${path}` is what the evidence has at that path.
    """
    return Comparison("approximately_equals", expected)


def is_alphabetic() -> Comparison:
    """Passes if the value is text of letters only; empty text passes."""
    return Comparison("is_alphabetic")


def is_alphanumeric() -> Comparison:
    """Passes if the value is text of letters and digits only; empty text passes."""
    return Comparison("is_alphanumeric")


def is_lower_case() -> Comparison:
    """Passes if the value is text whose letters are all lower case; text without letters is an error."""
    return Comparison("is_lower_case")


def is_upper_case() -> Comparison:
    """Passes if the value is text whose letters are all upper case; text without letters is an error."""
    return Comparison("is_upper_case")


def exists(expected: bool = True) -> Comparison:
    """Passes if the value exists, `null` included; with `expected_value: false`, does not exist.

    Args:
        expected: Whether it must exist.
    """
    return Comparison("exists", expected)
