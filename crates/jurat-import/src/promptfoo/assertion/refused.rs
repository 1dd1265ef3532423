//! Assertions that jurat does not have, each with the reason and what to do instead.

use super::{AssertionType, Taken, Taking, Use};

macro_rules! refused {
    ($($name:literal => $why:expr;)*) => {
        pub(super) static TYPES: &[AssertionType] = &[
            $(AssertionType::new($name, Use::Code, |_: &mut Taking<'_, '_>| -> Result<Taken, String> { Err($why.to_owned()) }),)*
        ];
    };
}

const SERVICE: &str = "it asks a service of its own";
const PARSER: &str = "jurat has no parser for it; write an evaluator";
const METRIC: &str = "jurat has no such metric; write an evaluator";
const VARIANTS: &str = "jurat has no task over the answers of several models to one row: judge each answer, or compare runs (`jurat compare`)";
const TRACE: &str = "jurat judges traces that were imported (`jurat import`), not those of a run";

refused! {
    "select-best" => VARIANTS;
    "max-score" => VARIANTS;
    "human" => "a person decides it";
    "search-rubric" => SERVICE;
    "moderation" => SERVICE;
    "guardrails" => SERVICE;
    "classifier" => SERVICE;
    "webhook" => SERVICE;
    "pi" => SERVICE;
    "perplexity" => "jurat does not ask for log-probabilities";
    "perplexity-score" => "jurat does not ask for log-probabilities";
    "ruby" => "evaluators are Python, TypeScript or JavaScript";
    "similar:dot" => "jurat compares embeddings by their angle";
    "similar:euclidean" => "jurat compares embeddings by their angle";
    "is-xml" => PARSER;
    "contains-xml" => PARSER;
    "is-html" => PARSER;
    "contains-html" => PARSER;
    "is-sql" => PARSER;
    "contains-sql" => PARSER;
    "gleu" => METRIC;
    "meteor" => METRIC;
    "tool-call-f1" => METRIC;
    "trace-span-count" => TRACE;
    "trace-error-spans" => TRACE;
    "trace-span-duration" => TRACE;
}
