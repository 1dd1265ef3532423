//! A comparison as one JSON document.

use std::io::{self, Write};

use jurat_core::contrast::provenance::Note;
use jurat_core::contrast::{
    About, Change, ChangeSide, Comparison, Contrast, LabelChanges, Line, PairCounts, Ranking, Side, SidePair,
};
use jurat_core::statistics::Interval;

use super::notes;
use super::sentence::headline;
use crate::json_text::{Members, more_members, object, open_object};

/// The version of this shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// How much is held before it is written: a million cases may have changed.
const MOST_HELD: usize = 64 << 10;

/// Writes a comparison as one JSON object. With `results_only`, without the names of runs.
pub fn write_json(out: &mut dyn Write, comparison: &Comparison, results_only: bool) -> io::Result<()> {
    let mut text = String::new();
    open_object(&mut text, |document| {
        write_head(document, comparison, results_only);
        document.open_list("comparisons");
    });
    for (ix, contrast) in comparison.contrasts.iter().enumerate() {
        text.push_str(if ix > 0 { "," } else { "" });
        open_object(&mut text, |members| write_contrast(members, comparison, contrast));
        for (ix, change) in contrast.changes.iter().enumerate() {
            text.push_str(if ix > 0 { "," } else { "" });
            object(&mut text, |members| write_change(members, change));
            if text.len() > MOST_HELD {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        text.push_str("]}");
    }
    text.push(']');
    if let Some(ranking) = &comparison.ranking {
        more_members(&mut text, |document| write_ranking(document, comparison, ranking));
    }
    writeln!(out, "{text}}}")
}

fn write_head(document: &mut Members<'_>, comparison: &Comparison, results_only: bool) {
    document.number("version", VERSION);
    document.objects("sides", &comparison.sides, |members, side| write_side(members, side, results_only));
    document.float("confidence", comparison.confidence.level());
    if comparison.is_unpaired {
        document.flag("unpaired", true);
    }
    if let Some(first) = comparison.contrasts.first() {
        document.objects("notes", &first.notes, |members, note| write_note(members, note, first));
        document.object("pairing", |members| write_counts(members, &first.counts));
    }
}

fn write_ranking(document: &mut Members<'_>, comparison: &Comparison, ranking: &Ranking) {
    document.objects("pairs", &ranking.pairs, |members, pair| write_pair(members, comparison, pair));
    let names = |tier: &Vec<usize>| tier.iter().map(|it| comparison.sides[*it].name.clone()).collect::<Vec<_>>();
    document.objects("tiers", &ranking.tiers, |members, tier| members.texts("sides", &names(tier)));
}

fn write_side(members: &mut Members<'_>, side: &Side, results_only: bool) {
    members.text("name", &side.name);
    if !results_only {
        members.text("run_id", &side.run_id);
    }
    members.text("suite", &side.suite);
    members.text("suite_hash", &side.suite_hash);
    members.object("selection", |members| {
        for (key, value) in [("prompt", &side.prompt), ("subject", &side.subject)] {
            if let Some(value) = value {
                members.text(key, value);
            }
        }
    });
    members.number("cases", side.cases);
    members.flag("complete", side.is_complete);
}

pub(crate) fn write_note(members: &mut Members<'_>, note: &Note, contrast: &Contrast) {
    members.text("code", note.finding.name());
    if let Some(task) = &note.task {
        members.text("task", task);
    }
    for (key, words) in [("was", &note.was), ("now", &note.now)] {
        if !words.is_empty() {
            members.text(key, words);
        }
    }
    if let Some(pairs) = note.pairs {
        members.number("pairs", pairs);
    }
    members.text("message", &notes::sentence(note, contrast));
}

fn write_counts(members: &mut Members<'_>, counts: &PairCounts) {
    let key: Vec<String> = std::iter::once("id").chain(counts.key.iter().copied()).map(str::to_owned).collect();
    members.texts("key", &key);
    members.flag("by_content", counts.by_content);
    for (name, n) in [
        ("pairs", counts.pairs),
        ("unknown", counts.unknown),
        ("not_applicable", counts.not_applicable),
        ("changed", counts.changed),
        ("only_in_base", counts.only_in_base),
        ("only_in_new", counts.only_in_new),
        ("all", counts.all()),
    ] {
        members.number(name, n);
    }
    members.objects("changes", &counts.changes, |members, ((was, now), n)| {
        members.text("was", was);
        members.text("now", now);
        members.number("cases", *n);
    });
    members.number("clusters", counts.clusters);
    if let Some(path) = &counts.cluster_by {
        members.text("cluster_by", path);
    }
}

/// The members of a contrast, up to its cases.
fn write_contrast(members: &mut Members<'_>, comparison: &Comparison, contrast: &Contrast) {
    members.text("base", &comparison.sides[contrast.base].name);
    members.text("new", &comparison.sides[contrast.new].name);
    members.text("sentence", &headline(contrast, comparison.confidence, false).join(" "));
    members.object("pairing", |members| write_counts(members, &contrast.counts));
    members.objects("notes", &contrast.notes, |members, note| write_note(members, note, contrast));
    members.objects("lines", &contrast.lines, |members, line| write_contrast_line(members, line, contrast));
    members.objects_if_any("labels", &contrast.labels, write_labels);
    members.texts("tasks_only_in_base", &contrast.only_in_base);
    members.texts("tasks_only_in_new", &contrast.only_in_new);
    members.open_list("cases");
}

fn write_contrast_line(members: &mut Members<'_>, line: &Line, contrast: &Contrast) {
    write_line_members(members, line);
    let task = line.about.task();
    let of_notes = contrast.notes.iter().filter(|it| task.is_some() && it.task.as_deref() == task);
    let marks: Vec<String> = of_notes
        .map(|it| it.finding.name().to_owned())
        .chain(line.marks.iter().map(|it| it.name().to_owned()))
        .collect();
    members.texts("marks", &marks);
}

/// The members of a line that do not depend on the rest of the comparison.
fn write_line_members(members: &mut Members<'_>, line: &Line) {
    members.text("about", line.about.name());
    write_about(members, &line.about);
    members.number("pairs", line.pairs);
    if let Some(clusters) = line.clusters {
        members.number("clusters", clusters);
    }
    members.or_null("base", line.base, Members::float);
    members.or_null("new", line.new, Members::float);
    let is_ratio = !line.about.is_rate() && !matches!(line.about, About::Score { .. });
    members.or_null(if is_ratio { "ratio" } else { "difference" }, line.difference, Members::float);
    write_interval(members, "interval", line.interval);
    if !is_ratio {
        members.or_null("p", line.p, Members::float);
        if let Some(q) = line.q {
            members.float("q", q);
        }
    }
    members.object("method", |members| {
        members.text("interval", line.method.interval);
        members.text("test", line.method.test);
    });
    write_effects(members, line);
    if line.about.is_rate() {
        members.number("unknown", line.unknown);
        members.number("not_applicable", line.not_applicable);
        members.or_null("least", line.least, Members::float);
        members.or_null("most", line.most, Members::float);
        if let Some(robust) = line.robust {
            members.flag("robust", robust);
        }
    }
    if let Some(mde) = line.mde {
        members.or_null("mde", mde, Members::float);
    }
    write_amounts(members, line);
    if let Some(corrected) = &line.corrected {
        members.object("corrected", |members| {
            members.float("difference", corrected.difference);
            write_interval(members, "interval", Some(corrected.interval));
            members.text("method", corrected.method.name());
        });
    }
    members.text("word", line.word.as_str());
}

fn write_about(members: &mut Members<'_>, about: &About) {
    match about {
        About::Task { id, is_condition } => {
            members.text("task", id);
            if *is_condition {
                members.flag("gate", true);
            }
        }
        About::Score { task } => members.text("task", task),
        About::Slice { path, value } => {
            members.text("path", path);
            members.or_null("value", value.as_deref(), Members::text);
        }
        About::Cost(payer) | About::InputTokens(payer) | About::OutputTokens(payer) => members.text("of", payer.name()),
        About::Cases | About::Judgements | About::Latency => {}
    }
}

fn write_effects(members: &mut Members<'_>, line: &Line) {
    if let Some(table) = line.table {
        members.object("table", |members| {
            members.number("both", table.both);
            members.number("only_base", table.only_base);
            members.number("only_new", table.only_new);
            members.number("neither", table.neither);
        });
        match line.effect.flip_odds {
            None => members.null("flip_odds"),
            Some(odds) => members.object("flip_odds", |members| {
                members.or_null("ratio", odds.ratio, Members::float);
                write_interval(members, "interval", Some(odds.interval));
            }),
        }
    }
    if let Some([better, same, worse]) = line.moved {
        members.object("units", |members| {
            members.number("better", better);
            members.number("same", same);
            members.number("worse", worse);
        });
    }
    if matches!(line.about, About::Score { .. }) {
        members.or_null("d_z", line.effect.d_z, Members::float);
        members.or_null("rank_biserial", line.effect.rank_biserial, Members::float);
    }
}

fn write_amounts(members: &mut Members<'_>, line: &Line) {
    if let Some([base, new]) = line.p95 {
        for (key, (value, interval)) in [("base_p95", base), ("new_p95", new)] {
            members.object(key, |members| {
                members.float("value", value);
                write_interval(members, "interval", interval);
            });
        }
    }
    for (key, n) in [("left_out", line.left_out), ("reused", line.reused)] {
        if n > 0 {
            members.number(key, n);
        }
    }
}

/// An end that is infinite is null.
fn write_interval(members: &mut Members<'_>, key: &'static str, interval: Option<Interval>) {
    match interval {
        None => members.null(key),
        Some(Interval { low, high }) => members.object(key, |members| {
            members.float("low", low);
            members.float("high", high);
        }),
    }
}

fn write_labels(members: &mut Members<'_>, labels: &LabelChanges) {
    members.text("task", &labels.task);
    members.number("pairs", labels.pairs);
    members.number("unknown", labels.unknown);
    members.number("changed", labels.changed);
    members.objects("transitions", &labels.transitions, |members, (was, now, n)| {
        members.text("was", was);
        members.text("now", now);
        members.number("pairs", *n);
    });
}

fn write_change(members: &mut Members<'_>, change: &Change) {
    members.text("id", &change.id);
    for (key, value) in [("prompt", &change.prompt), ("subject", &change.subject)] {
        if let Some(value) = value {
            members.text(key, value);
        }
    }
    members.texts("tasks", change.tasks.iter());
    members.text("was", change.base.word);
    members.text("now", change.new.word);
    for (key, side) in [("base", &change.base), ("new", &change.new)] {
        members.object(key, |members| write_change_side(members, side));
    }
    if let Some(p) = change.p {
        members.float("p", p);
        members.flag("likely", change.is_likely);
    }
    members.flag("flaky_in_base", change.is_flaky_in_base);
    members.flag("critical", change.is_critical);
    members.or_null("same_answer", change.same_answer, Members::flag);
}

fn write_change_side(members: &mut Members<'_>, side: &ChangeSide) {
    members.number("passed", side.passed.into());
    members.number("judged", side.judged.into());
    if !side.message().is_empty() {
        members.text("message", side.message());
    }
    if let Some(response) = side.response() {
        members.text("response", response);
    }
}

fn write_pair(members: &mut Members<'_>, comparison: &Comparison, pair: &SidePair) {
    members.text("base", &comparison.sides[pair.base].name);
    members.text("new", &comparison.sides[pair.new].name);
    members.number("pairs", pair.line.pairs);
    members.or_null("difference", pair.line.difference, Members::float);
    write_interval(members, "interval", pair.line.interval);
    members.or_null("p", pair.line.p, Members::float);
    members.or_null("p_adjusted", pair.p_adjusted, Members::float);
}
