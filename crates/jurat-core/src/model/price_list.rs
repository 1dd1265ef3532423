//! `prices`: a file of list prices, for models whose price the suite does not give and for those whose built-in price is out of date.
//!
//! The file has the form of the built-in table, which `jurat models --prices` prints: a date, and a price for each `provider` and `model`. It is a file of the definition, so it is
//! stored with every run, and a run that is looked at later has the prices that it was run with.

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node, Span, Spanned};
use jurat_format::yaml::read_tree;

use super::{TokenPrice, price_fields};
use crate::section::{Heading, Section};
use crate::text_file;

/// The list prices of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceList {
    /// The file, as it is named in the suite.
    pub file: String,
    /// The day whose prices these are.
    pub date: Option<String>,
    pub prices: Vec<ListedPrice>,
}

/// What a model of a provider costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPrice {
    /// What stands before the slash of `provider/model`.
    pub provider: String,
    pub model: String,
    pub price: TokenPrice,
}

const DATE: Field<String> = Field::optional("date", shape::STRING, "the day whose prices these are: `2026-11-01`");
const PRICES: Field<Vec<ListedPrice>> = Field::required(
    "prices",
    Shape::new(const { Form::List(&Form::Object(&LISTED)) }, listed),
    "a price for each model",
);
const PROVIDER: Field<String> = Field::required("provider", shape::STRING, "the provider: `openai` in `openai/gpt-5`");
const MODEL: Field<String> =
    Field::required("model", shape::STRING, "the model; dated versions of it have the same price");

static PRICE_LIST: Object = Object { what: "a file of prices", keys: &[DATE.key, PRICES.key] };
static LISTED: Object = Object {
    what: "a price of a list",
    keys: &[
        PROVIDER.key,
        MODEL.key,
        price_fields::INPUT.key,
        price_fields::OUTPUT.key,
        price_fields::CACHED.key,
        price_fields::CACHE_WRITE.key,
    ],
};

pub(crate) const SECTION: Section<Option<PriceList>> =
    Heading::new("prices", Form::Text, "a file of list prices of models, in place of the built-in ones", &[]).read(
        |reading, _, known, at| {
            let prices = read(reading, at.node);
            *known = if at.is_main { prices } else { known.take().or(prices) };
        },
    );

/// Reads the file that a suite names.
pub(crate) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<PriceList> {
    let Spanned { value: file, span } = reading.text("`prices`", node)?;
    let path = reading.beside(span, &file);
    let text = text_file::read(reading, &path, Some(span))?;
    let source = reading.sources.add(&path, text.clone());
    let mut problems = Vec::new();
    let tree = read_tree(&text, source, false, &mut problems);
    reading.problems.extend(problems);
    let fields = PRICE_LIST.fields(reading, tree.as_ref()?)?;
    let (date, prices) = (fields.read(reading, &DATE), fields.read(reading, &PRICES)?);
    Some(PriceList { file, date, prices })
}

fn listed(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<ListedPrice>> {
    let mut prices: Vec<(ListedPrice, Span)> = Vec::new();
    for item in reading.list(what, "a list of prices", node) {
        let Some(fields) = LISTED.fields(reading, item) else { continue };
        let (provider, model) = (fields.read(reading, &PROVIDER), fields.read(reading, &MODEL));
        let price = price_fields::read(reading, &fields);
        let (Some(provider), Some(model), Some(price)) = (provider, model, price) else { continue };
        if let Some((_, first)) = prices.iter().find(|(it, _)| it.provider == provider && it.model == model) {
            let message = format!("`{provider}/{model}` has two prices");
            let problem = Problem::new(&codes::REPEATED_KEY, message).at(item.span, "again here");
            reading.problem(problem.at(*first, "first here").help("keep one of them"));
        }
        prices.push((ListedPrice { provider, model, price }, item.span));
    }
    Some(prices.into_iter().map(|(it, _)| it).collect())
}
