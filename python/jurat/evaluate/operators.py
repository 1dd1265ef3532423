"""How values are compared. `docs/reference/comparisons.md` says exactly what passes."""

from __future__ import annotations

from enum import Enum

from jurat._jurat import operators

__all__ = ["ComparisonOperator"]


class ComparisonOperator(Enum):
    """An operator; its value is its name in files."""

    Equals = "equals"
    NotEqual = "not_equal"
    GreaterThan = "greater_than"
    GreaterThanOrEqual = "greater_than_or_equal"
    LessThan = "less_than"
    LessThanOrEqual = "less_than_or_equal"
    Contains = "contains"
    NotContains = "not_contains"
    ContainsAll = "contains_all"
    ContainsAny = "contains_any"
    ContainsNone = "contains_none"
    HasUniqueItems = "has_unique_items"
    SequenceMatches = "sequence_matches"
    StartsWith = "starts_with"
    EndsWith = "ends_with"
    ContainsWord = "contains_word"
    Matches = "matches"
    MatchesRegex = "matches_regex"
    NotStartsWith = "not_starts_with"
    NotEndsWith = "not_ends_with"
    NotContainsWord = "not_contains_word"
    NotMatches = "not_matches"
    EqualsIgnoringCase = "equals_ignoring_case"
    NotEqualsIgnoringCase = "not_equals_ignoring_case"
    ContainsIgnoringCase = "contains_ignoring_case"
    NotContainsIgnoringCase = "not_contains_ignoring_case"
    StartsWithIgnoringCase = "starts_with_ignoring_case"
    NotStartsWithIgnoringCase = "not_starts_with_ignoring_case"
    EndsWithIgnoringCase = "ends_with_ignoring_case"
    NotEndsWithIgnoringCase = "not_ends_with_ignoring_case"
    ContainsWordIgnoringCase = "contains_word_ignoring_case"
    NotContainsWordIgnoringCase = "not_contains_word_ignoring_case"
    MatchesIgnoringCase = "matches_ignoring_case"
    NotMatchesIgnoringCase = "not_matches_ignoring_case"
    HasLengthEqual = "has_length_equal"
    HasLengthGreaterThan = "has_length_greater_than"
    HasLengthLessThan = "has_length_less_than"
    HasLengthGreaterThanOrEqual = "has_length_greater_than_or_equal"
    HasLengthLessThanOrEqual = "has_length_less_than_or_equal"
    IsNumeric = "is_numeric"
    IsString = "is_string"
    IsBoolean = "is_boolean"
    IsNull = "is_null"
    IsArray = "is_array"
    IsObject = "is_object"
    IsEmpty = "is_empty"
    IsNotEmpty = "is_not_empty"
    IsEmail = "is_email"
    IsUrl = "is_url"
    IsUuid = "is_uuid"
    IsIso8601 = "is_iso8601"
    IsJson = "is_json"
    InRange = "in_range"
    NotInRange = "not_in_range"
    IsPositive = "is_positive"
    IsNegative = "is_negative"
    IsZero = "is_zero"
    ApproximatelyEquals = "approximately_equals"
    IsAlphabetic = "is_alphabetic"
    IsAlphanumeric = "is_alphanumeric"
    IsLowerCase = "is_lower_case"
    IsUpperCase = "is_upper_case"
    Exists = "exists"

    @property
    def takes_operand(self) -> bool:
        """Whether it compares with something."""
        return _TAKES_OPERAND[self.value]

    @classmethod
    def of(cls, operator: ComparisonOperator | str) -> ComparisonOperator:
        """The operator of this name, in either spelling.

        >>> ComparisonOperator.of("has_length_equal") is ComparisonOperator.of("HasLengthEqual")
        True
        """
        if isinstance(operator, ComparisonOperator):
            return operator
        for it in cls:
            if operator in (it.name, it.value):
                return it
        from jurat.errors import UsageError

        raise UsageError(f"there is no operator `{operator}`; there are {', '.join(it.name for it in cls)}")


_TAKES_OPERAND = {name: takes for _, name, takes in operators()}
