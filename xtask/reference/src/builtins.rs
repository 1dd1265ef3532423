//! `docs/reference/builtin-evaluators.md`: every built-in evaluator, made from the catalogue of the core.

use std::fmt::Write;

use jurat_core::evaluator::Direction;
use jurat_core::evaluator::builtin::{ENTRIES, Gives};

/// The page of built-in evaluators.
pub(crate) fn builtin_reference() -> String {
    let mut page = String::from(
        "# Built-in evaluators\n\n<!-- Made from the program by `cargo xtask generate`; change `crates/jurat-core/src/evaluator/builtin/` instead. -->\n\nHow they are defined and run is in [Evaluators](evaluators.md).\n",
    );
    for entry in ENTRIES {
        let inputs: Vec<String> = entry.inputs.iter().map(|it| format!("`{it}`")).collect();
        let gives = match entry.gives {
            Gives::Hit { yes, no } => format!("label `{yes}` (1) or `{no}` (0)"),
            Gives::Score { least, most: Some(most), .. } => format!("score from {least} to {most}"),
            Gives::Score { least, most: None, direction } => {
                format!(
                    "score of at least {least}, {} is better",
                    if direction == Direction::Minimize { "less" } else { "more" }
                )
            }
        };
        let _ = write!(
            page,
            "\n## `{}`\n\n{}.\n\nTakes {}; gives {gives}.\n",
            entry.name,
            capitalised(entry.summary),
            inputs.join(" and ")
        );
        if entry.params.is_empty() {
            continue;
        }
        page += "\n| parameter | value | default | meaning |\n|---|---|---|---|\n";
        for param in entry.params {
            let default = match param.default {
                None => "required".to_owned(),
                Some("null") => String::new(),
                Some(default) => format!("`{}`", default.trim_matches('"')),
            };
            let _ = writeln!(page, "| `{}` | {} | {default} | {} |", param.name, param.takes.phrase(), param.doc);
        }
    }
    page
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
