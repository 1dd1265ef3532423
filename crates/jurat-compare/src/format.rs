//! `is_email`, `is_url`, `is_uuid`, `is_iso8601`, `is_json`: text in a well-known form.
//!
//! The forms are as wide and as narrow as the ones that suites were written against: no ports or user names in addresses
//! of pages, no calendar behind dates. For a stricter form write the expression with `matches`.

use std::sync::LazyLock;

use jurat_format::value::{Kind, Kinds, Val};
use regex::Regex;
use serde::de::IgnoredAny;

use super::judgement::{Inapplicable, Parameters, Test};
use super::{Entry, Operand};

const FORMAT: Entry = Entry { operand: Operand::Ignored, passes: Kinds::of(&[Kind::Text]), ..Entry::OPERATOR };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "IsEmail",
        summary: "is an e-mail address",
        example: "{ id: contactable, field_path: contact, operator: is_email }",
        read: |_| Ok(Operator::Email.into()),
        ..FORMAT
    },
    Entry {
        name: "IsUrl",
        summary: "is an `http` or `https` address without a port",
        example: "{ id: linked, field_path: source, operator: is_url }",
        read: |_| Ok(Operator::Url.into()),
        ..FORMAT
    },
    Entry {
        name: "IsUuid",
        summary: "is a UUID with its four hyphens",
        example: "{ id: has_id, field_path: request_id, operator: is_uuid }",
        read: |_| Ok(Operator::Uuid.into()),
        ..FORMAT
    },
    Entry {
        name: "IsIso8601",
        summary: "has the form of an ISO 8601 date, or of a date with a time to the second",
        example: "{ id: dated, field_path: due, operator: is_iso8601 }",
        read: |_| Ok(Operator::Iso8601.into()),
        ..FORMAT
    },
    Entry {
        name: "IsJson",
        summary: "is text that parses as JSON",
        example: "{ id: parses, field_path: agent_response, operator: is_json }",
        read: |_| Ok(Operator::Json.into()),
        ..FORMAT
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Email,
    Url,
    Uuid,
    Iso8601,
    Json,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison(Operator);

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison(*self))
    }
}

impl Parameters for Operator {}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = value.as_str().ok_or_else(|| Inapplicable::kind("text", value))?;
        Ok(match self.0 {
            Operator::Email => EMAIL.is_match(text),
            Operator::Url => URL.is_match(text),
            Operator::Uuid => is_uuid(text),
            Operator::Iso8601 => ISO_8601.is_match(text),
            Operator::Json => serde_json::from_str::<IgnoredAny>(text).is_ok(),
        })
    }

    fn expected(&self) -> String {
        match self.0 {
            Operator::Email => "an e-mail address",
            Operator::Url => "an http or https address",
            Operator::Uuid => "a UUID",
            Operator::Iso8601 => "an ISO 8601 date",
            Operator::Json => "JSON text",
        }
        .to_owned()
    }
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| known(r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$"));
static URL: LazyLock<Regex> =
    LazyLock::new(|| known(r"^https?://[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*(?:/.*)?$"));
static ISO_8601: LazyLock<Regex> =
    LazyLock::new(|| known(r"^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?)?$"));

fn known(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the expressions of this file are valid")
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(ix, it)| match ix {
            8 | 13 | 18 | 23 => it == b'-',
            _ => it.is_ascii_hexdigit(),
        })
}
