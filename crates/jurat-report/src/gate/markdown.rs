//! A gate as Markdown, for a comment of a pull request.

use std::fmt::Write as _;
use std::io::{self, Write};

use jurat_core::gate::{GateReport, GateVerdict};

use super::summary;
use crate::comparison::{write_cases, write_metrics, write_notes, write_sentences};
use crate::markdown::{code, escaped};

/// Writes a gate as Markdown. A hidden marker lets a workflow find its comment again.
pub fn write_markdown(out: &mut dyn Write, report: &GateReport) -> io::Result<()> {
    let mut text = String::new();
    let _ = writeln!(text, "### {} · {}\n", report.verdict.name(), code(&report.suite));
    let _ = writeln!(text, "<!-- jurat-gate:{} -->\n", report.suite.replace("--", "- -"));
    let alert = match report.verdict {
        GateVerdict::Fail => "CAUTION",
        GateVerdict::Undecided => "WARNING",
        GateVerdict::Pass => "TIP",
    };
    let _ = writeln!(text, "> [!{alert}]\n> {}\n", escaped(&summary(report)));
    if let Some(contrast) = &report.contrast {
        write_sentences(&mut text, contrast, report.confidence);
        write_notes(&mut text, contrast);
    }
    let _ = writeln!(text, "| gate | verdict | found | wanted | why |\n|---|---|---|---|---|");
    for condition in &report.conditions {
        let advisory = if condition.advisory { " (advisory)" } else { "" };
        let _ = writeln!(
            text,
            "| {} | {}{advisory} | {} | {} | {} |",
            code(&condition.id),
            condition.verdict.name(),
            escaped(&condition.found_words),
            escaped(&condition.wanted_words),
            escaped(&condition.reason)
        );
    }
    let _ = writeln!(text);
    if let Some(contrast) = &report.contrast {
        write_metrics(&mut text, contrast, report.confidence);
        write_cases(&mut text, contrast);
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}
