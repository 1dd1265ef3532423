//! What a comparison says, in sentences that need no statistics to be understood.

use jurat_core::calibration::CorrectionMethod;
use jurat_core::contrast::{Contrast, Line, PairCounts};
use jurat_core::statistics::{Confidence, Interval, Word};

use super::numbers::{p_phrase, percent, points, size};
use crate::words::{counted, grouped};

/// What the headline line shows.
pub fn headline(contrast: &Contrast, confidence: Confidence, is_plain: bool) -> Vec<String> {
    let Some(line) = contrast.headline() else { return vec!["nothing could be compared".to_owned()] };
    let mut sentences = vec![shown(line, confidence, is_plain)];
    sentences.extend(bounds(line));
    sentences.extend(contrast.lines.iter().filter_map(corrected));
    sentences
}

/// What people would have found, where the judge of a task was calibrated.
fn corrected(line: &Line) -> Option<String> {
    let (task, found) = (line.about.task()?, line.corrected.as_ref()?);
    let Interval { low, high } = found.interval;
    let condition = match found.method {
        CorrectionMethod::RoganGladen => ", if the judge errs as it did on the labelled cases",
        CorrectionMethod::PpiMean | CorrectionMethod::Poststratified => ", by what people said of cases on both sides",
    };
    Some(format!(
        "Corrected for the errors of its judge, `{task}` differs by {} points ({} – {}){condition}.",
        points(found.difference),
        points(low),
        points(high)
    ))
}

fn shown(line: &Line, confidence: Confidence, is_plain: bool) -> String {
    let Some(interval) = line.interval else {
        if line.is_of_stopped() {
            return format!("{} A run stopped early, and nothing is shown about the difference.", moved(line, ""));
        }
        let cases = counted(line.pairs, "case");
        let are = if line.pairs == 1 { "is" } else { "are" };
        return format!("{cases} {are} in both runs and judged: too few for a conclusion.");
    };
    let [better, _, worse] = line.moved.unwrap_or_default();
    let sure = percent(confidence.level());
    if line.moved.is_some() && better + worse == 0 {
        let most = size(interval.low.abs().max(interval.high.abs()));
        return format!("No case changed. With {sure} confidence the pass rate moved by less than {most} points.");
    }
    let p = line.p.filter(|_| !is_plain).map_or_else(String::new, |it| format!(" ({})", p_phrase(it)));
    let moved = moved(line, &p);
    match line.word {
        Word::Better => {
            let (low, high) = (size(interval.low), size(interval.high));
            format!("{moved} With {sure} confidence the pass rate rose by {low} to {high} points.")
        }
        Word::Worse => {
            let (low, high) = (size(interval.high), size(interval.low));
            format!("{moved} With {sure} confidence the pass rate fell by {low} to {high} points.")
        }
        Word::NotShown => format!("{moved} {}", not_shown(line, interval)),
    }
}

/// On how many cases NEW is better and worse, the larger number first where something is shown.
fn moved(line: &Line, p: &str) -> String {
    let Some([better, _, worse]) = line.moved else {
        let rate = |it: Option<f64>| it.map_or_else(|| "none".to_owned(), percent_of_cases);
        return format!("{} of the cases of BASE passed, {} of NEW{p}.", rate(line.base), rate(line.new));
    };
    match line.word {
        Word::Worse => {
            format!("NEW is worse on {} and better on {}{p}.", counted(worse, "case"), grouped(better))
        }
        _ => format!("NEW is better on {} and worse on {}{p}.", counted(better, "case"), grouped(worse)),
    }
}

fn percent_of_cases(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn not_shown(line: &Line, interval: Interval) -> String {
    let lies = format!(
        "No difference is shown: it lies between {} and {} points.",
        points(interval.low),
        points(interval.high)
    );
    let cases = counted(line.pairs, "case");
    match line.mde {
        Some(Some(least)) => format!("{lies} These {cases} would have shown {} points or more.", size(least)),
        Some(None) => {
            format!("{lies} Even if every case that changed had gone one way, these {cases} would not have shown it.")
        }
        None => lies,
    }
}

/// What the unknown could have made of it.
fn bounds(line: &Line) -> Option<String> {
    let (least, most) = line.least.zip(line.most).filter(|_| line.unknown > 0)?;
    let cases = counted(line.unknown, "case");
    let all = if line.unknown == 1 { "it" } else { "they all" };
    let robust = if line.robust == Some(true) { " Either way the conclusion stays the same." } else { "" };
    Some(format!(
        "{cases} could not be compared; had {all} gone against NEW the difference would be {} points, had {all} gone for it {}.{robust}",
        points(least),
        points(most)
    ))
}

/// `120 cases in both, 1 only in NEW; 2 could not be compared (1 error, 1 skipped)`
pub fn pairing(counts: &PairCounts) -> String {
    let mut parts = vec![format!("{} in both", counted(counts.in_both(), "case"))];
    for (n, words) in [(counts.only_in_base, "only in BASE"), (counts.only_in_new, "only in NEW")] {
        if n > 0 {
            parts.push(format!("{} {words}", grouped(n)));
        }
    }
    let mut text = parts.join(", ");
    if counts.unknown > 0 {
        text += &format!("; {} could not be compared{}", grouped(counts.unknown), reasons(counts));
    }
    if counts.not_applicable > 0 {
        text += &format!("; {} had nothing to judge on either side", grouped(counts.not_applicable));
    }
    if counts.changed > 0 {
        text += &format!("; {} left out because of other content", grouped(counts.changed));
    }
    if counts.by_content {
        text += "; paired by content";
    }
    if let Some(path) = &counts.cluster_by {
        text += &format!("; {} by `{path}`", counted(counts.clusters, "cluster"));
    }
    text
}

/// Why cases could not be compared: how the side ended that was not judged.
fn reasons(counts: &PairCounts) -> String {
    const JUDGED: [&str; 3] = ["passed", "failed", "mixed"];
    const NOTHING: [&str; 3] = ["skipped", "measured", "absent"];
    let mut reasons: Vec<(&str, u64)> = Vec::new();
    for ((was, now), n) in &counts.changes {
        let is_judged = |it: &str| JUDGED.contains(&it);
        if (is_judged(was) && is_judged(now)) || (was == now && NOTHING.contains(&was.as_str())) {
            continue;
        }
        let reason = if is_judged(now) { was } else { now };
        match reasons.iter_mut().find(|it| it.0 == reason) {
            Some(found) => found.1 += n,
            None => reasons.push((reason, *n)),
        }
    }
    let words = reasons.iter().map(|(word, n)| format!("{} {}", grouped(*n), word.replace('_', " ")));
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// That many cases are in one run only.
pub fn lopsided(counts: &PairCounts) -> Option<String> {
    let alone = counts.only_in_base + counts.only_in_new;
    let is_much = alone * 20 > counts.all();
    is_much.then(|| {
        format!(
            "{} of {} cases are in one run only: the comparison is of the others",
            grouped(alone),
            grouped(counts.all())
        )
    })
}
