//! What tokens cost.
//!
//! `prices.json` is a table of the providers' list prices on the day that stands in it. It knows models whose price is one number for
//! each kind of token; models that cost more above some length of the prompt are left out, because a budget must not be overspent.
//! A suite's own `price` wins, then the file that it names under `prices`, whatever the address; at another address than the provider's own the table says nothing.

use std::fmt;
use std::sync::LazyLock;

use jurat_core::effect::Usage;
use jurat_core::model::TokenPrice;
use jurat_core::suite::PriceList;
use serde::Deserialize;

/// What a million tokens cost, in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Read from the provider's cache; as any other where it is not known.
    pub cached: Option<f64>,
    /// Written into the provider's cache; as any other where it is not known.
    pub cache_write: Option<f64>,
}

impl Price {
    /// What tokens cost in a batch: half, whatever kind they are.
    pub fn halved(&self) -> Price {
        let half = |it: f64| it / 2.0;
        Price {
            input: half(self.input),
            output: half(self.output),
            cached: self.cached.map(half),
            cache_write: self.cache_write.map(half),
        }
    }
}

impl Price {
    /// The price of requests that may write everything into the provider's cache, for bounds.
    pub fn with_cache_writes(&self) -> Price {
        Price { input: self.input.max(self.cache_write.unwrap_or(0.0)), ..*self }
    }
}

impl From<TokenPrice> for Price {
    fn from(price: TokenPrice) -> Price {
        let TokenPrice { input, output, cached, cache_write } = price;
        Price { input, output, cached, cache_write }
    }
}

/// What an answer cost, in dollars.
pub fn cost(usage: &Usage, price: &Price) -> f64 {
    let cached = usage.cached.min(usage.input);
    let written = usage.cache_write.min(usage.input - cached);
    let fresh = usage.input - cached - written;
    let per_million = fresh as f64 * price.input
        + cached as f64 * price.cached.unwrap_or(price.input)
        + written as f64 * price.cache_write.unwrap_or(price.input)
        + usage.output as f64 * price.output;
    per_million / 1e6
}

/// The list price of a model at its provider's own address, when it is known.
pub fn list_price(provider: &str, model: &str) -> Option<Price> {
    let line = TABLE.prices.iter().find(|it| it.provider == provider && is_version_of(model, &it.model))?;
    let Line { input, output, cached, cache_write, .. } = *line;
    Some(Price { input, output, cached, cache_write })
}

/// Where the price of a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PriceSource {
    /// `price` of the model.
    Suite,
    /// A file that the suite names, with its date.
    File { file: String, date: Option<String> },
    /// The table of this version.
    BuiltIn,
}

impl fmt::Display for PriceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PriceSource::Suite => f.write_str("`price` of the model"),
            PriceSource::File { file, date: Some(date) } => write!(f, "`{file}`, prices of {date}"),
            PriceSource::File { file, date: None } => write!(f, "`{file}`, without a date"),
            PriceSource::BuiltIn => write!(f, "built-in list prices of {}", table_date()),
        }
    }
}

impl PriceSource {
    /// The day whose price it is, when that is known.
    pub fn date(&self) -> Option<&str> {
        match self {
            PriceSource::Suite => None,
            PriceSource::File { date, .. } => date.as_deref(),
            PriceSource::BuiltIn => Some(table_date()),
        }
    }
}

/// The price that a file has for `provider/model`.
pub(crate) fn of_list(list: &PriceList, spec: &str) -> Option<Price> {
    let (provider, model) = spec.split_once('/')?;
    let of_provider = || list.prices.iter().filter(|it| it.provider == provider);
    let line =
        of_provider().find(|it| it.model == model).or_else(|| of_provider().find(|it| is_version_of(model, &it.model)));
    line.map(|it| it.price.into())
}

/// The built-in table, as a file of prices has it.
pub fn table() -> &'static str {
    include_str!("prices.json")
}

/// The day whose prices the table has: `2025-12-01`.
pub fn table_date() -> &'static str {
    &TABLE.date
}

static TABLE: LazyLock<Table> = LazyLock::new(|| serde_json::from_str(table()).expect("the table of prices is JSON"));

#[derive(Deserialize)]
struct Table {
    date: String,
    prices: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    provider: String,
    model: String,
    input: f64,
    output: f64,
    cached: Option<f64>,
    #[serde(default)]
    cache_write: Option<f64>,
}

/// Whether a name is that of a model, or of one of its dated versions. A longer name of another kind may be another model with another price.
fn is_version_of(name: &str, model: &str) -> bool {
    let Some(rest) = name.strip_prefix(model) else { return false };
    let Some(version) = rest.strip_prefix('-') else { return rest.is_empty() };
    let shape: String = version.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    matches!(shape.as_str(), "latest" | "000" | "00000000" | "0000-00-00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_the_price_of_its_model() {
        let input = |model: &str| list_price("openai", model).map(|it| it.input);
        assert_eq!(input("gpt-4o"), Some(2.5));
        assert_eq!(input("gpt-4o-2024-08-06"), Some(2.5));
        assert_eq!(input("gpt-4o-mini"), Some(0.15));
        assert_eq!(input("gpt-4o-audio-preview"), None);
        assert_eq!(input("gpt-4"), None);
        assert_eq!(input("gpt-4.1-5-20250101"), None);
        assert_eq!(list_price("anthropic", "claude-haiku-4-5-20251001").map(|it| it.output), Some(5.0));
        assert_eq!(list_price("gemini", "gemini-2.5-flash-lite").map(|it| it.cached), Some(Some(0.01)));
        assert_eq!(list_price("ollama", "gpt-4o"), None);
    }

    #[test]
    fn cached_tokens_cost_less() {
        let price = Price { input: 2.0, output: 10.0, cached: Some(0.5), cache_write: None };
        let usage = Usage { input: 1_000_000, output: 100_000, cached: 400_000, reasoning: 50_000, cache_write: 0 };
        assert_eq!(cost(&usage, &price), 1.2 + 0.2 + 1.0);
        assert_eq!(cost(&usage, &Price { cached: None, ..price }), 3.0);
        let written = Usage { cache_write: 200_000, ..usage };
        assert_eq!(cost(&written, &price), 1.2 + 0.2 + 1.0);
        assert_eq!(cost(&written, &Price { cache_write: Some(2.5), ..price }), 0.8 + 0.2 + 0.5 + 1.0);
        // A provider that counts cached tokens apart from the others cannot make it negative.
        assert_eq!(cost(&Usage { input: 1, cached: 9, ..Usage::default() }, &price), 0.5 / 1e6);
    }

    #[test]
    fn the_table_is_sound() {
        assert_eq!(table_date().len(), 10);
        for line in &TABLE.prices {
            assert!(line.input > 0.0 && line.output > line.input, "{}", line.model);
            assert!(line.cached.is_none_or(|it| it > 0.0 && it < line.input), "{}", line.model);
            // Anthropic takes a quarter more for what it keeps for five minutes, which is what is asked for.
            let written = (line.provider == "anthropic").then_some(line.input * 1.25);
            assert_eq!(line.cache_write, written, "{}", line.model);
        }
    }
}
