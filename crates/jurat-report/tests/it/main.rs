//! Problems, runs, plans and explanations in, text out.

mod documents;
mod explanations;
mod laws;
mod lists;
mod plans;
mod problem_json;
mod problem_text;
mod progress;
mod reference;
mod sample;
mod scenarios;

use jurat_format::problem::{Code, Severity};

static UNKNOWN_FIELD: Code =
    Code { name: "plan::unknown_field", severity: Severity::Warning, summary: "a field that nothing produces" };
static UNKNOWN_KEY: Code = Code { name: "suite::unknown_key", severity: Severity::Error, summary: "an unknown key" };
