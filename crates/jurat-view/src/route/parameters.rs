//! The parameters of an address: what each may be, and what is wrong with one that cannot be meant.

use jurat_engine::view::query::Sort;

use super::{BadAddress, EvidenceForm, Look, VariantName};
use crate::percent;

/// The parameters of an address, read. Of a parameter that is there several times the first counts, where one is meant.
#[derive(Debug)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(super) fn parse(query: &str) -> Result<Parameters, BadAddress> {
        let pairs = query.split('&').filter(|it| !it.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent::of_parameter(name)?, percent::of_parameter(value)?))
        });
        pairs.collect::<Option<Vec<_>>>().map(Parameters).ok_or(BadAddress::Unknown)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// Forms send fields that were left empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// A place from 0.
    pub(super) fn place(&self, name: &'static str) -> Result<Option<u32>, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let accepted = || "a number from 0".to_owned();
        value.parse().map(Some).map_err(|_| BadAddress::Value { parameter: name, value, accepted: accepted() })
    }

    pub(super) fn or_empty(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(it, value)| it == name && !value.is_empty());
        values.map(|(_, value)| value.clone()).collect()
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let (mut items, mut item, mut is_escaped) = (Vec::new(), String::new(), false);
        // Forms send a parameter for each item.
        for letter in self.all(name).join(",").chars() {
            match letter {
                '\\' if !is_escaped => is_escaped = true,
                ',' if !is_escaped => items.push(std::mem::take(&mut item)),
                other => {
                    is_escaped = false;
                    item.push(other);
                }
            }
        }
        items.push(item);
        items.retain(|it| !it.is_empty());
        items
    }

    pub(super) fn number(&self, name: &'static str, default: u64) -> Result<u64, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(default) };
        value.parse().map_err(|_| bad(name, value, "a whole number"))
    }

    pub(super) fn within(
        &self,
        name: &'static str,
        default: u32,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u32, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(default) };
        let accepted = || format!("a number from {} to {}", range.start(), range.end());
        value.parse().ok().filter(|it| range.contains(it)).ok_or_else(|| bad(name, value, accepted()))
    }

    /// A number from 1, where one is given.
    pub(super) fn optional(&self, name: &'static str) -> Result<Option<u32>, BadAddress> {
        let Some(value) = self.text(name) else { return Ok(None) };
        value.parse().ok().filter(|it| *it > 0).map(Some).ok_or_else(|| bad(name, value, "a number from 1"))
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool, BadAddress> {
        match self.get(name).unwrap_or_default() {
            "" | "0" => Ok(false),
            "1" => Ok(true),
            other => Err(bad(name, other.to_owned(), "0 or 1")),
        }
    }

    pub(super) fn look(&self) -> Result<Look, BadAddress> {
        let wanted = self.text("evidence").unwrap_or_else(|| EvidenceForm::default().name().to_owned());
        let evidence = EvidenceForm::ALL.into_iter().find(|it| it.name() == wanted);
        let evidence = evidence.ok_or_else(|| bad("evidence", wanted, "`tree`, `json`, `text` or `markdown`"))?;
        let is_side_by_side = match self.get("diff").unwrap_or_default() {
            "" | "inline" => false,
            "sides" => true,
            other => return Err(bad("diff", other.to_owned(), "`inline` or `sides`")),
        };
        Ok(Look { evidence, is_side_by_side, asked: self.number("asked", 0)? })
    }

    pub(super) fn sort(&self) -> Result<Sort, BadAddress> {
        let value = self.text("sort").unwrap_or_else(|| Sort::Input.to_string());
        Sort::parse(&value).ok_or_else(|| bad("sort", value, Sort::ACCEPTED))
    }

    pub(super) fn direction(&self) -> Result<bool, BadAddress> {
        match self.get("dir").unwrap_or_default() {
            "" | "asc" => Ok(false),
            "desc" => Ok(true),
            other => Err(bad("dir", other.to_owned(), "`asc` or `desc`")),
        }
    }

    pub(super) fn variant(&self) -> Result<VariantName, BadAddress> {
        let replicate = self.optional("replicate")?;
        Ok(VariantName { prompt: self.text("prompt"), subject: self.text("subject"), replicate })
    }
}

fn bad(parameter: &'static str, value: String, accepted: impl Into<String>) -> BadAddress {
    BadAddress::Value { parameter, value, accepted: accepted.into() }
}
