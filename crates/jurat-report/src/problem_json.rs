//! Problems as editors read them: all of them, with every place in lines and columns.

use jurat_format::problem::{self, Severity};
use jurat_format::source::Sources;
use jurat_format::value::Span;

use crate::json_text::escape;
use crate::lines::Lines;
use crate::order::{count, in_reading_order};
use crate::visible::is_hazard;
use crate::wire;

/// The problems of some definitions as one JSON object on one line, in the shape of [`wire::Problems`].
///
/// Texts are exact. Characters that a terminal would obey are written as JSON escapes, so that the line may be looked at.
pub fn problems_json(definitions: &[(&[problem::Problem], &Sources)]) -> String {
    let counted = |severity| definitions.iter().map(|(problems, _)| count(problems, severity)).sum();
    let (errors, warnings) = (counted(Severity::Error), counted(Severity::Warning));
    let mut all = Vec::new();
    for (problems, sources) in definitions {
        let texts = Lines::of_all(sources);
        all.extend(in_reading_order(problems).into_iter().map(|it| problem(it, &texts)));
    }
    let problems = wire::Problems { version: wire::VERSION, problems: all, errors, warnings };
    escaped(&serde_json::to_string(&problems).expect("strings and numbers always serialise"))
}

fn problem(problem: &problem::Problem, texts: &[Lines<'_>]) -> wire::Problem {
    wire::Problem {
        code: problem.code.name.to_owned(),
        severity: problem.severity().to_string(),
        message: problem.message.clone(),
        place: problem.labels.first().and_then(|it| place(it.span, texts)),
        labels: problem.labels.iter().filter_map(|it| label(it, texts)).collect(),
        help: problem.help.clone(),
        docs: format!("docs/problems/{}.md", problem.code.name.replace("::", "/")),
    }
}

fn label(label: &problem::Label, texts: &[Lines<'_>]) -> Option<wire::Label> {
    Some(wire::Label { place: place(label.span, texts)?, text: label.text.clone() })
}

fn place(span: Span, texts: &[Lines<'_>]) -> Option<wire::Place> {
    let lines = texts.get(span.source.0 as usize)?;
    let covered = lines.covered(span);
    let (start, end) = (lines.position(covered.start), lines.position(covered.end));
    Some(wire::Place {
        file: lines.path.to_string_lossy().into_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    })
}

/// `serde_json` escapes what JSON forbids, which leaves what else a terminal obeys. All of that stands inside strings.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for it in json.chars() {
        if is_hazard(it) {
            escape(&mut text, it);
        } else {
            text.push(it);
        }
    }
    text
}
