//! Every built-in evaluator: its name, what it takes, what it gives, how it looks.

use jurat_compare::pattern::Pattern;
use jurat_format::value::{Val, python, shown};

use super::bleu::{Bleu, Smooth, Tokenize};
use super::chrf::Chrf;
use super::rouge::{Rouge, Variant};
use super::settings::{BadSetting, Settings};
use super::token_f1::token_f1;
use super::{Arguments, Found, What, document, edit, extent, rouge};
use crate::evaluator::Direction;
use crate::output::CompiledSchema;

/// One built-in evaluator.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    /// What it says, in one sentence after its name.
    pub summary: &'static str,
    /// The names of its arguments.
    pub inputs: &'static [&'static str],
    pub params: &'static [Param],
    pub gives: Gives,
    pub(super) make: fn(&Settings) -> Result<Rule, BadSetting>,
}

#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub takes: Takes,
    /// What holds when it is left out, as JSON; `None` when it is required.
    pub default: Option<&'static str>,
    pub doc: &'static str,
}

/// What a parameter must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// `true` or `false`.
    Boolean,
    Text,
    /// One text or a list of them.
    Texts,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A whole number within these bounds.
    Count {
        least: i64,
        most: i64,
    },
    /// A finite number that is not negative.
    Number,
    /// A JSON Schema.
    Schema,
}

/// What a built-in evaluator gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gives {
    /// One of two labels; the first stands for yes.
    Hit {
        yes: &'static str,
        no: &'static str,
    },
    Score {
        least: f64,
        most: Option<f64>,
        direction: Direction,
    },
}

/// The built-in evaluator with this name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|it| it.name == name)
}

/// How an evaluator looks, with its parameters read.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    ExactMatch(Texts),
    Contains {
        words: Vec<String>,
        all: bool,
        texts: Texts,
    },
    Regex {
        pattern: Pattern,
    },
    EditDistance(Texts),
    EditSimilarity(Texts),
    JsonEquality,
    JsonDistance,
    JsonSchema(Box<CompiledSchema>),
    Numeric {
        absolute: f64,
        relative: f64,
    },
    Bleu(Bleu),
    Chrf(Chrf),
    Rouge {
        variant: Variant,
        measure: RougePart,
    },
    TokenF1,
    /// A role, or `provider/model`.
    Embedding {
        model: String,
    },
}

/// What counts as a difference between texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts {
    ignore_case: bool,
    ignore_space: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum RougePart {
    Precision,
    Recall,
    Both,
}

const MATCH: Gives = Gives::Hit { yes: "match", no: "mismatch" };
const SHARE: Gives = Gives::Score { least: 0.0, most: Some(1.0), direction: Direction::Maximize };
const PERCENT: Gives = Gives::Score { least: 0.0, most: Some(100.0), direction: Direction::Maximize };
const COSINE: Gives = Gives::Score { least: -1.0, most: Some(1.0), direction: Direction::Maximize };
const COUNT: Gives = Gives::Score { least: 0.0, most: None, direction: Direction::Minimize };
const BOTH: &[&str] = &["output", "reference"];

const IGNORE_CASE: Param = Param {
    name: "ignore_case",
    takes: Takes::Boolean,
    default: Some("false"),
    doc: "whether case makes no difference",
};
const IGNORE_SPACE: Param = Param {
    name: "ignore_space",
    takes: Takes::Boolean,
    default: Some("false"),
    doc: "whether space around the text, and how much of it stands between words, makes no difference",
};
const LOWERCASE: Param =
    Param { name: "lowercase", takes: Takes::Boolean, default: Some("false"), doc: "whether case makes no difference" };

/// Every built-in evaluator, in the order documentation lists them.
pub static ENTRIES: &[Entry] = &[
    Entry {
        name: "exact_match",
        summary: "the output is the reference, or one of them",
        inputs: BOTH,
        params: &[IGNORE_CASE, IGNORE_SPACE],
        gives: MATCH,
        make: |it| Ok(Rule::ExactMatch(Texts::of(it))),
    },
    Entry {
        name: "contains",
        summary: "the output contains some or all of these words",
        inputs: &["output"],
        params: &[
            Param {
                name: "words",
                takes: Takes::Texts,
                default: None,
                doc: "what is looked for: a text or a list of texts",
            },
            Param {
                name: "mode",
                takes: Takes::Choice(&["any", "all"]),
                default: Some("\"any\""),
                doc: "whether one of them is enough",
            },
            IGNORE_CASE,
            IGNORE_SPACE,
        ],
        gives: Gives::Hit { yes: "present", no: "absent" },
        make: |it| Ok(Rule::Contains { words: it.texts("words"), all: it.text("mode") == "all", texts: Texts::of(it) }),
    },
    Entry {
        name: "regex",
        summary: "a regular expression matches the output",
        inputs: &["output"],
        params: &[
            Param {
                name: "pattern",
                takes: Takes::Text,
                default: None,
                doc: "the regular expression, in the syntax of `matches`",
            },
            Param {
                name: "match",
                takes: Takes::Choice(&["search", "full"]),
                default: Some("\"search\""),
                doc: "whether it may match anywhere, or must match the whole output",
            },
            IGNORE_CASE,
        ],
        gives: MATCH,
        make: pattern,
    },
    Entry {
        name: "edit_distance",
        summary: "how many characters must be put in, taken out or changed to make the reference of the output; the least of several",
        inputs: BOTH,
        params: &[IGNORE_CASE, IGNORE_SPACE],
        gives: COUNT,
        make: |it| Ok(Rule::EditDistance(Texts::of(it))),
    },
    Entry {
        name: "edit_similarity",
        summary: "one minus the edit distance as a share of the longer text; the greatest of several",
        inputs: BOTH,
        params: &[IGNORE_CASE, IGNORE_SPACE],
        gives: SHARE,
        make: |it| Ok(Rule::EditSimilarity(Texts::of(it))),
    },
    Entry {
        name: "json_equality",
        summary: "output and reference are the same document, however they are written",
        inputs: BOTH,
        params: &[],
        gives: MATCH,
        make: |_| Ok(Rule::JsonEquality),
    },
    Entry {
        name: "json_distance",
        summary: "how many leaves of the two documents differ",
        inputs: BOTH,
        params: &[],
        gives: COUNT,
        make: |_| Ok(Rule::JsonDistance),
    },
    Entry {
        name: "json_schema",
        summary: "the output is a document that fits a schema",
        inputs: &["output"],
        params: &[Param { name: "schema", takes: Takes::Schema, default: None, doc: "the JSON Schema" }],
        gives: Gives::Hit { yes: "valid", no: "invalid" },
        make: |it| match CompiledSchema::compile(it.value("schema")) {
            Ok(schema) => Ok(Rule::JsonSchema(Box::new(schema))),
            Err(message) => Err(BadSetting::of("schema", format!("not a JSON Schema: {message}"))),
        },
    },
    Entry {
        name: "numeric_tolerance",
        summary: "the output is a number near the reference",
        inputs: BOTH,
        params: &[
            Param { name: "absolute", takes: Takes::Number, default: Some("0"), doc: "how far it may be away" },
            Param {
                name: "relative",
                takes: Takes::Number,
                default: Some("0"),
                doc: "how far it may be away, as a share of the reference; the wider of both counts",
            },
        ],
        gives: MATCH,
        make: |it| {
            let number = |name: &str| it.number(name).unwrap_or(0.0);
            Ok(Rule::Numeric { absolute: number("absolute"), relative: number("relative") })
        },
    },
    Entry {
        name: "bleu",
        summary: "runs of words shared with the references, as `sentence_bleu` of sacrebleu",
        inputs: BOTH,
        params: &[
            Param {
                name: "tokenize",
                takes: Takes::Choice(&["13a", "char", "none"]),
                default: Some("\"13a\""),
                doc: "how texts become words",
            },
            Param {
                name: "smooth",
                takes: Takes::Choice(&["exp", "floor", "add-k", "none"]),
                default: Some("\"exp\""),
                doc: "what becomes of orders without a match",
            },
            Param {
                name: "smooth_value",
                takes: Takes::Number,
                default: Some("null"),
                doc: "the value for `floor` (default: 0.1) and `add-k` (default: 1)",
            },
            Param {
                name: "max_order",
                takes: Takes::Count { least: 1, most: 12 },
                default: Some("4"),
                doc: "the longest run of words",
            },
            Param {
                name: "effective_order",
                takes: Takes::Boolean,
                default: Some("true"),
                doc: "whether to leave out n-gram orders for which the output is too short; `false` as in `corpus_bleu`",
            },
            LOWERCASE,
        ],
        gives: PERCENT,
        make: |it| Ok(Rule::Bleu(bleu(it))),
    },
    Entry {
        name: "rouge",
        summary: "how much of the reference the output has, as rouge-score without stemming",
        inputs: BOTH,
        params: &[
            Param {
                name: "variant",
                takes: Takes::Choice(&["rouge1", "rouge2", "rougeL", "rougeLsum"]),
                default: Some("\"rougeL\""),
                doc: "shared words, shared pairs, longest common subsequence, or that of lines",
            },
            Param {
                name: "measure",
                takes: Takes::Choice(&["fmeasure", "precision", "recall"]),
                default: Some("\"fmeasure\""),
                doc: "which metric is the score",
            },
        ],
        gives: SHARE,
        make: |it| {
            let variant = match it.text("variant") {
                "rouge1" => Variant::N(1),
                "rouge2" => Variant::N(2),
                "rougeLsum" => Variant::Lsum,
                _ => Variant::L,
            };
            let measure = match it.text("measure") {
                "precision" => RougePart::Precision,
                "recall" => RougePart::Recall,
                _ => RougePart::Both,
            };
            Ok(Rule::Rouge { variant, measure })
        },
    },
    Entry {
        name: "chrf",
        summary: "runs of characters shared with the reference, as `sentence_chrf` of sacrebleu; chrF++ with `word_order: 2`",
        inputs: BOTH,
        params: &[
            Param {
                name: "char_order",
                takes: Takes::Count { least: 1, most: 24 },
                default: Some("6"),
                doc: "the longest run of characters",
            },
            Param {
                name: "word_order",
                takes: Takes::Count { least: 0, most: 12 },
                default: Some("0"),
                doc: "the longest run of words",
            },
            Param {
                name: "beta",
                takes: Takes::Number,
                default: Some("2"),
                doc: "how many times more recall counts than precision",
            },
            LOWERCASE,
            Param {
                name: "whitespace",
                takes: Takes::Boolean,
                default: Some("false"),
                doc: "whether spaces are characters too",
            },
            Param {
                name: "eps_smoothing",
                takes: Takes::Boolean,
                default: Some("false"),
                doc: "whether n-gram orders without matches count with a very small value instead of zero",
            },
        ],
        gives: PERCENT,
        make: |it| {
            Ok(Rule::Chrf(Chrf {
                char_order: it.count("char_order"),
                word_order: it.count("word_order"),
                beta: it.number("beta").unwrap_or(2.0),
                lowercase: it.is("lowercase"),
                whitespace: it.is("whitespace"),
                eps_smoothing: it.is("eps_smoothing"),
            }))
        },
    },
    Entry {
        name: "token_f1",
        summary: "words shared with the reference, without case, punctuation and articles",
        inputs: BOTH,
        params: &[],
        gives: SHARE,
        make: |_| Ok(Rule::TokenF1),
    },
    Entry {
        name: "embedding_similarity",
        summary: "the cosine similarity of the embeddings of output and reference, made by a model; with several references, the greatest",
        inputs: BOTH,
        params: &[Param {
            name: "model",
            takes: Takes::Text,
            default: Some("\"embedder\""),
            doc: "who is asked: a role, or `provider/model`",
        }],
        gives: COSINE,
        make: |it| Ok(Rule::Embedding { model: it.text("model").to_owned() }),
    },
];

fn pattern(settings: &Settings) -> Result<Rule, BadSetting> {
    let written = settings.text("pattern");
    // Read on its own first: what is wrong with it must not depend on what is put around it.
    let unreadable = |error: jurat_compare::pattern::PatternError| {
        BadSetting::of("pattern", format!("not a regular expression: {}", error.message))
    };
    Pattern::rust(written).map_err(unreadable)?;
    let case = if settings.is("ignore_case") { "(?i)" } else { "" };
    let whole = match settings.text("match") {
        "full" => format!(r"{case}\A(?:{written})\z"),
        _ => format!("{case}{written}"),
    };
    Ok(Rule::Regex { pattern: Pattern::rust(&whole).map_err(unreadable)? })
}

fn bleu(settings: &Settings) -> Bleu {
    let value = settings.number("smooth_value");
    Bleu {
        tokenize: match settings.text("tokenize") {
            "char" => Tokenize::Char,
            "none" => Tokenize::None,
            _ => Tokenize::Thirteen,
        },
        smooth: match settings.text("smooth") {
            "floor" => Smooth::Floor(value.unwrap_or(0.1)),
            "add-k" => Smooth::AddK(value.unwrap_or(1.0)),
            "none" => Smooth::None,
            _ => Smooth::Exp,
        },
        max_order: settings.count("max_order"),
        effective_order: settings.is("effective_order"),
        lowercase: settings.is("lowercase"),
    }
}

impl Rule {
    /// What it finds, or what was missing or of no use.
    pub(super) fn find(&self, arguments: &Arguments<'_>) -> Result<Found, String> {
        let output = arguments.text("output")?;
        let references = || arguments.references();
        Ok(match self {
            Rule::ExactMatch(texts) => {
                let output = texts.plain(&output);
                hit(references()?.iter().any(|it| texts.plain(it) == output))
            }
            Rule::Contains { words, all, texts } => contains(words, *all, *texts, &output),
            Rule::Regex { pattern } => hit(pattern.is_match(&output).map_err(|limit| limit.to_string())?),
            Rule::EditDistance(texts) => {
                let output = texts.plain(&output);
                let distances: Vec<usize> = compared(*texts, &output, &references()?, edit::distance)?;
                score(distances.into_iter().min().unwrap_or(0) as f64)
            }
            Rule::EditSimilarity(texts) => {
                let output = texts.plain(&output);
                let similarities: Vec<f64> = compared(*texts, &output, &references()?, edit::similarity)?;
                score(similarities.into_iter().fold(0.0, f64::max))
            }
            Rule::JsonEquality => {
                let reference = arguments.document("reference")?;
                match arguments.document("output") {
                    Ok(output) => hit(document::is_equal(&output, &reference)),
                    Err(why) => Found { what: What::Hit(false), explanation: Some(why) },
                }
            }
            Rule::JsonDistance => {
                let (output, reference) = (arguments.document("output")?, arguments.document("reference")?);
                score(document::distance(&output, &reference) as f64)
            }
            Rule::JsonSchema(schema) => match arguments.document("output").and_then(|it| schema.check(&it)) {
                Ok(()) => hit(true),
                Err(why) => Found { what: What::Hit(false), explanation: Some(why) },
            },
            Rule::Numeric { absolute, relative } => numeric(arguments, *absolute, *relative)?,
            Rule::Bleu(bleu) => score(bleu.score(&output, &borrowed(&references()?))),
            Rule::Chrf(chrf) => score(chrf.score(&output, &borrowed(&references()?))),
            Rule::Rouge { variant, measure } => {
                let references = references()?;
                rouge::check(*variant, &output, &borrowed(&references))?;
                let rouge = Rouge::score(*variant, &output, &borrowed(&references));
                score(match measure {
                    RougePart::Precision => rouge.precision,
                    RougePart::Recall => rouge.recall,
                    RougePart::Both => rouge.f_measure,
                })
            }
            Rule::TokenF1 => score(token_f1(&output, &borrowed(&references()?))),
            Rule::Embedding { model } => return Err(format!("`{model}` has to be asked for embeddings first")),
        })
    }
}

/// An output beside each of its references, character by character.
fn compared<T>(
    texts: Texts,
    output: &str,
    references: &[impl AsRef<str>],
    compare: fn(&str, &str) -> T,
) -> Result<Vec<T>, String> {
    let one = |reference: &str| {
        extent::check("characters", output.chars().count(), reference.chars().count())?;
        Ok(compare(output, reference))
    };
    references.iter().map(|it| one(&texts.plain(it.as_ref()))).collect()
}

impl Texts {
    fn of(settings: &Settings) -> Texts {
        Texts { ignore_case: settings.is("ignore_case"), ignore_space: settings.is("ignore_space") }
    }

    /// A text without what makes no difference.
    fn plain(self, text: &str) -> String {
        let text = if self.ignore_case { text.to_lowercase() } else { text.to_owned() };
        if self.ignore_space { python::words(&text).collect::<Vec<_>>().join(" ") } else { text }
    }
}

fn contains(words: &[String], all: bool, texts: Texts, output: &str) -> Found {
    let output = texts.plain(output);
    let (there, missing): (Vec<&String>, Vec<&String>) = words.iter().partition(|it| output.contains(&texts.plain(it)));
    let is_hit = if all { missing.is_empty() } else { !there.is_empty() };
    let named = |words: &[&String]| {
        let words: Vec<String> = words.iter().map(|it| shown(&Val::from(it.as_str()))).collect();
        words.join(", ")
    };
    let explanation = match (is_hit, all) {
        (true, _) => format!("contains {}", named(&there)),
        (false, true) => format!("does not contain {}", named(&missing)),
        (false, false) => format!("contains none of {}", named(&missing)),
    };
    Found { what: What::Hit(is_hit), explanation: Some(explanation) }
}

/// An output that is no number is far from any; a reference that is none makes no sense.
fn numeric(arguments: &Arguments<'_>, absolute: f64, relative: f64) -> Result<Found, String> {
    let finite = |value: &Val<'_>| match value {
        Val::Bool(_) => None,
        other => python::float(other).ok().filter(|it| it.is_finite()),
    };
    let (output, reference) = (arguments.value("output")?, arguments.value("reference")?);
    let wanted = finite(reference).ok_or_else(|| format!("`reference` is not a number: {}", shown(reference)))?;
    let Some(got) = finite(output) else {
        let explanation = format!("not a number: {}", shown(output));
        return Ok(Found { what: What::Hit(false), explanation: Some(explanation) });
    };
    let (away, room) = ((got - wanted).abs(), absolute.max(relative * wanted.abs()));
    let explanation = format!("{} away, {} allowed", python::float_text(away), python::float_text(room));
    Ok(Found { what: What::Hit(away <= room), explanation: Some(explanation) })
}

fn hit(is_hit: bool) -> Found {
    Found { what: What::Hit(is_hit), explanation: None }
}

fn score(score: f64) -> Found {
    Found { what: What::Score(score), explanation: None }
}

fn borrowed<'t>(texts: &'t [std::borrow::Cow<'_, str>]) -> Vec<&'t str> {
    texts.iter().map(|it| &**it).collect()
}
