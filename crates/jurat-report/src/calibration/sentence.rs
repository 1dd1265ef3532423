//! A calibration in sentences that need no statistics to be read.

use jurat_core::calibration::{Advice, Calibration, CorrectedRate, CorrectionMethod, Design, Estimate, LabelCounts};

use crate::words::{counted, grouped, interval, rate};

/// Who judged and who labelled.
pub(super) fn head(calibration: &Calibration) -> String {
    let Calibration { task, judge, figures, labels, .. } = calibration;
    let judge = if judge.model.is_empty() { String::new() } else { format!(" ({})", judge.model) };
    let people = match labels.annotators.as_slice() {
        [one] => format!("`{one}`"),
        several => counted(several.len() as u64, "annotator"),
    };
    let disputed = match figures.n_disputed {
        0 => String::new(),
        n => format!(", {} without a majority", grouped(n)),
    };
    format!(
        "`{task}`{judge} against {people}: {} of {}{disputed}",
        counted(labels.n, "label"),
        counted(figures.n + figures.n_disputed, "case")
    )
}

/// The lines of labels that do not count.
pub(super) fn left_out(labels: &LabelCounts) -> Option<String> {
    let parts = [
        (labels.unmatched, "about cases that the run does not have"),
        (labels.other_answer, "about other answers"),
        (labels.judge_error, "about cases that the judge gave no verdict"),
        (labels.other_task, "about other tasks or suites"),
        (labels.empty, "not filled in"),
        (labels.unsure, "unsure"),
    ];
    let total: u64 = parts.iter().map(|it| it.0).sum();
    let words: Vec<String> =
        parts.iter().filter(|it| it.0 > 0).map(|(n, words)| format!("{} {words}", grouped(*n))).collect();
    (total > 0).then(|| {
        format!(
            "{} not counted: {}",
            if total == 1 { "1 line is".to_owned() } else { format!("{} lines are", grouped(total)) },
            words.join(", ")
        )
    })
}

/// How the cases were chosen, where that limits what can be said.
pub(super) fn design(calibration: &Calibration) -> Option<&'static str> {
    match calibration.figures.design {
        Design::Strata => Some("labels are weighted: each represents the cases with its verdict"),
        Design::Weights => Some("labels are weighted as the sheet says"),
        Design::Random => None,
        Design::Unknown => Some("how the labelled cases were chosen is not known, so the figures hold for them alone"),
    }
}

pub(super) fn too_few(calibration: &Calibration) -> Option<String> {
    let reasons = &calibration.figures.too_few;
    (!reasons.is_empty()).then(|| format!("too few to rely on: {}", reasons.join("; ")))
}

/// What the judge does with right and wrong answers, and how far it agrees.
pub(super) fn headline(calibration: &Calibration) -> Vec<String> {
    let figures = &calibration.figures;
    let mut sentences = Vec::new();
    let share = |it: &Option<Estimate>| it.and_then(|it| it.value).map(|it| rate(Some(it)));
    if let (Some(pass), Some(fail)) = (share(&figures.sensitivity), share(&figures.specificity)) {
        sentences.push(format!("Of what people pass the judge passes {pass}; of what people fail it fails {fail}."));
    }
    if let (Some(agreed), Some(commonest)) = (share(&figures.agreement), &figures.commonest) {
        let reached = rate(Some(commonest.share));
        sentences.push(format!(
            "It agrees with people on {agreed} of the cases; always saying `{}` would agree on {reached}.",
            commonest.label
        ));
    }
    if let Some(difference) = figures.difference.and_then(|it| it.value) {
        let how = if difference < 0.0 { "lower" } else { "higher" };
        sentences.push(format!("Its scores are {:.2} {how} than those of people on average.", difference.abs()));
    }
    sentences.extend(figures.corrected.as_ref().map(|it| corrected(it, calibration.confidence)));
    sentences
}

/// A corrected pass rate beside the one that the judge found.
pub(crate) fn corrected(corrected: &CorrectedRate, confidence: f64) -> String {
    let found = rate(corrected.observed);
    let Some(value) = corrected.rate else {
        let reason = corrected.reason.as_deref().unwrap_or("it cannot be computed");
        return format!("The judge passes {found}; no corrected pass rate is given: {reason}.");
    };
    let assumed = match corrected.method {
        Some(CorrectionMethod::RoganGladen) => ", if it errs as it did on the labelled cases",
        _ => "",
    };
    format!(
        "The judge passes {found}; corrected for its errors the pass rate is {} ({} interval {}){assumed}.",
        rate(Some(value)),
        percent(confidence),
        interval(corrected.interval)
    )
}

/// `95 %`
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if (percent - percent.round()).abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// How many labels a narrower interval takes.
pub(super) fn advice(advice: &Advice) -> String {
    let what = match advice.figure.as_str() {
        "kappa" => "κ",
        "corrected" => "the corrected pass rate",
        "difference" => "the difference of scores",
        other => other,
    };
    let size = |it: f64| match advice.figure.as_str() {
        "kappa" | "difference" => format!("± {it:.2}"),
        _ => format!("± {:.1} points", it * 100.0),
    };
    format!(
        "{what} is known to {}; for {} it takes about {} ({} more)",
        size(advice.half_width),
        size(advice.wanted),
        counted(advice.labels, "labelled case"),
        grouped(advice.more)
    )
}
