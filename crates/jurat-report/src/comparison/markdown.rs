//! A comparison as Markdown, for pull requests.
//!
//! Everything that comes from data or from a model stands in `<code>` with its punctuation escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use jurat_core::contrast::{About, Change, Comparison, Contrast, Direction, Line};
use jurat_core::statistics::Confidence;

use super::cases::{marks, variant, verdict};
use super::{notes, numbers, sentence, tables};
use crate::markdown::{code, escaped};
use crate::words;

/// How many regressions and fixes are listed.
const MOST_CASES: usize = 20;

/// Writes a comparison as Markdown.
pub fn write_markdown(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let mut text = String::new();
    for contrast in &comparison.contrasts {
        let suite = &comparison.sides[contrast.new].suite;
        let word = contrast.headline().map_or("nothing compared", |it| tables::word(it.word));
        let _ = writeln!(text, "### {word} · {}\n", code(suite));
        if comparison.is_unpaired {
            let _ = writeln!(text, "The sides are not paired: they are compared as independent samples.\n");
        }
        write_body(&mut text, contrast, comparison.confidence);
        let _ = writeln!(
            text,
            "BASE is {}, NEW is {}.\n",
            code(&comparison.sides[contrast.base].name),
            code(&comparison.sides[contrast.new].name)
        );
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Sentences, notes, tables and cases.
fn write_body(text: &mut String, contrast: &Contrast, confidence: Confidence) {
    write_sentences(text, contrast, confidence);
    write_notes(text, contrast);
    write_metrics(text, contrast, confidence);
    write_cases(text, contrast);
}

pub(crate) fn write_sentences(text: &mut String, contrast: &Contrast, confidence: Confidence) {
    let sentences = sentence::headline(contrast, confidence, false).join(" ");
    let _ = writeln!(text, "{}\n\n{}.\n", escaped(&sentences), escaped(&sentence::pairing(&contrast.counts)));
}

pub(crate) fn write_notes(text: &mut String, contrast: &Contrast) {
    if contrast.notes.is_empty() {
        return;
    }
    for note in &contrast.notes {
        let _ = writeln!(text, "> {}", escaped(&notes::sentence(note, contrast)));
        let _ = writeln!(text, ">");
    }
    text.truncate(text.len() - 2);
    text.push('\n');
}

/// Rates, scores and what answers took.
pub(crate) fn write_metrics(text: &mut String, contrast: &Contrast, confidence: Confidence) {
    let interval = numbers::percent(confidence.level());
    let _ = writeln!(text, "| | pairs | base | new | difference | {interval} interval | p | says |");
    let _ = writeln!(text, "|---|--:|--:|--:|--:|--:|--:|---|");
    for line in &contrast.lines {
        let value = |it: Option<f64>| it.map_or_else(|| words::NONE.to_owned(), |it| shown(line, it));
        let p = line.q.or(line.p).map_or_else(String::new, numbers::p);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            code(&tables::name(contrast, line)),
            line.pairs,
            value(line.base),
            value(line.new),
            line.difference.map_or_else(String::new, |it| numbers::difference(line, it)),
            line.interval.map_or_else(String::new, |it| numbers::interval(line, it)),
            p.replace('<', "&lt;"),
            tables::word(line.word),
        );
    }
    let _ = writeln!(text);
}

fn shown(line: &Line, value: f64) -> String {
    match &line.about {
        about if about.is_rate() => words::rate(Some(value)),
        About::Score { .. } => words::score(value),
        about => tables::amount(about, value),
    }
}

pub(crate) fn write_cases(text: &mut String, contrast: &Contrast) {
    for (direction, title) in [(Direction::Regression, "Worse in NEW"), (Direction::Fix, "Better in NEW")] {
        let own: Vec<&Change> = contrast.changes.iter().filter(|it| it.direction() == direction).collect();
        if own.is_empty() {
            continue;
        }
        let n = contrast.n_changes.of(direction);
        let _ = writeln!(text, "<details>\n<summary>{title} ({n})</summary>\n");
        for change in own.iter().take(MOST_CASES) {
            let variant = variant(change);
            let variant = if variant.is_empty() { variant } else { format!(" {}", code(&variant)) };
            let mark = marks(change);
            let mark = if mark.is_empty() { mark } else { format!(" ({})", mark.replace('<', "&lt;")) };
            let tasks =
                if change.tasks.is_empty() { String::new() } else { format!(" {}", code(&change.tasks.join(", "))) };
            let (was, now) = (verdict(&change.base), verdict(&change.new));
            let _ = writeln!(text, "- {}{variant}{mark}:{tasks} {was} → {now}", code(&change.id));
            if !change.new.message().is_empty() && direction == Direction::Regression {
                let _ = writeln!(text, "  - {}", code(&words::cut(change.new.message(), 300)));
            }
        }
        let rest = n - own.len().min(MOST_CASES) as u64;
        if rest > 0 {
            let _ = writeln!(text, "- … and {}", words::counted(rest, "more case"));
        }
        let _ = writeln!(text, "\n</details>\n");
    }
}
