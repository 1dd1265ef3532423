//! What people and the judge say, against each other: every figure with its interval.

use serde::{Deserialize, Serialize};

use super::correction::{CorrectedRate, corrected_here};
use super::estimate::{Estimate, Pattern, Sample};
use super::rated::{Design, Population, Rated, gold};
use super::scale::{FAIL, PASS, Scale};
use crate::statistics::{
    Clusters, Confidence, Level, Weights, cluster_mean, cohen_kappa, gwet_ac1, krippendorff_alpha, weighted_ac1,
    weighted_alpha,
};

/// How figures are measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasureOptions {
    pub confidence: Confidence,
    /// How much neighbouring labels count as agreement.
    pub weights: Weights,
    /// Whether the labelled cases are a simple random part of the run.
    pub is_random: bool,
    /// The half-width that intervals should have; half of what they have by default.
    pub wanted: Option<f64>,
}

impl Default for MeasureOptions {
    fn default() -> MeasureOptions {
        MeasureOptions { confidence: Confidence::USUAL, weights: Weights::Quadratic, is_random: false, wanted: None }
    }
}

/// How far a judge and people agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub scale: Scale,
    pub design: Design,
    /// Cases with a label that most annotators gave.
    pub n: u64,
    /// Cases without one.
    pub n_disputed: u64,
    /// How many cases people gave each label (rows) and the judge each (columns).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<Vec<f64>>,
    /// The same as shares of all cases of the run, where the labelled ones stand for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weighted_matrix: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Estimate>,
    /// What always answering the commonest label would reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commonest: Option<Commonest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa: Option<Estimate>,
    /// For ordered labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted_kappa: Option<Estimate>,
    pub alpha: AlphaFigures,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ac1: Option<Estimate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_label: Vec<LabelFigures>,
    /// Of what people passed, the share that the judge passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Estimate>,
    /// Of what people failed, the share that the judge failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specificity: Option<Estimate>,
    /// The mean of the judge's score less that of people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Estimate>,
    /// How far each annotator agrees with the majority of the others: more is not to be had of a judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotators: Vec<AnnotatorFigures>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotator_pairs: Vec<AnnotatorPair>,
    /// Why there are too few labels to rely on; empty when there are enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_few: Vec<String>,
    /// How many labels would give narrower intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
    /// The pass rate of the run as people would have judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedRate>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commonest {
    pub label: String,
    pub share: f64,
}

/// Krippendorff's α of people alone, and with the judge as one more of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AlphaFigures {
    /// `None` where no case has two annotators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<Estimate>,
    pub with_judge: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelFigures {
    pub label: String,
    pub precision: Estimate,
    pub recall: Estimate,
    pub f1: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorFigures {
    pub annotator: String,
    /// How many cases they labelled.
    pub labels: u64,
    /// With the majority of the others.
    pub agreement: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorPair {
    pub one: String,
    pub other: String,
    /// How many cases both labelled.
    pub cases: u64,
    pub agreement: Estimate,
    pub kappa: Estimate,
}

/// How many labels a narrower interval takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The name of the figure.
    pub figure: String,
    pub half_width: f64,
    pub wanted: f64,
    /// The labels in all, and how many of them are to be added.
    pub labels: u64,
    pub more: u64,
}

/// Fewer cases with a label than this are too few to rely on.
const LEAST_CASES: u64 = 30;
/// And fewer of either verdict than this.
const LEAST_OF_EACH: f64 = 10.0;

/// Measures how far a judge and people agree. The order of `rated` changes nothing.
pub fn measure(
    rated: &[Rated],
    scale: &Scale,
    annotators: &[String],
    population: &Population,
    options: MeasureOptions,
) -> Figures {
    let mut rated: Vec<&Rated> = rated.iter().collect();
    rated.sort_by(|one, other| one.case.cmp(&other.case));
    let design = Design::of(&rated.iter().map(|it| (*it).clone()).collect::<Vec<Rated>>(), options.is_random);
    let has_gold: Vec<&Rated> = rated.iter().filter(|it| gold(&it.people, scale).is_some()).copied().collect();
    let of = |rated: &[&Rated]| Sample::of(rated, scale, design, population, options.confidence);
    let (all, sample) = (of(&rated), of(&has_gold));
    let mut figures = Figures {
        scale: scale.clone(),
        design,
        n: sample.n(),
        n_disputed: all.n() - sample.n(),
        matrix: Vec::new(),
        weighted_matrix: Vec::new(),
        agreement: None,
        commonest: None,
        kappa: None,
        weighted_kappa: None,
        alpha: AlphaFigures {
            people: has_several(&all).then(|| alpha(&all, scale, |it| it.people.clone())),
            with_judge: alpha(&all, scale, |it| it.people.iter().copied().chain([Some(it.judge)]).collect()),
        },
        ac1: None,
        by_label: Vec::new(),
        sensitivity: None,
        specificity: None,
        difference: None,
        annotators: Vec::new(),
        annotator_pairs: Vec::new(),
        too_few: Vec::new(),
        advice: Vec::new(),
        corrected: None,
    };
    match scale {
        Scale::Scores => figures.difference = Some(difference(&sample)),
        Scale::PassFail | Scale::Labels { .. } => {
            add_labels(&mut figures, &sample, scale, options.weights);
            add_annotators(&mut figures, &all, scale, annotators);
        }
    }
    if *scale == Scale::PassFail {
        let is = |label: usize| move |it: &Pattern| it.gold == Some(label as f64);
        let said = |label: usize| move |it: &Pattern| it.judge == label as f64;
        figures.sensitivity = Some(sample.share(said(PASS), is(PASS)));
        figures.specificity = Some(sample.share(said(FAIL), is(FAIL)));
        figures.corrected = Some(corrected_here(&figures, &sample, population));
    }
    figures.too_few = too_few(&figures);
    figures.advice = advice(&figures, options.wanted);
    figures
}

impl Figures {
    /// The lowest value that Youden's J may have, by the bounds of sensitivity and specificity.
    pub fn youden_low(&self) -> Option<f64> {
        let low = |it: &Option<Estimate>| it.and_then(|it| it.interval).map(|it| it.low);
        Some(low(&self.sensitivity)? + low(&self.specificity)? - 1.0)
    }

    /// A figure that a gate may name.
    pub fn named(&self, name: &str) -> Option<Estimate> {
        match name {
            "agreement" => self.agreement,
            "kappa" => self.kappa,
            "weighted_kappa" => self.weighted_kappa,
            "alpha" => Some(self.alpha.with_judge),
            "ac1" => self.ac1,
            "sensitivity" => self.sensitivity,
            "specificity" => self.specificity,
            _ => None,
        }
    }

    /// The names that [`Figures::named`] knows.
    pub const NAMES: [&'static str; 7] =
        ["agreement", "kappa", "weighted_kappa", "alpha", "ac1", "sensitivity", "specificity"];
}

fn has_several(sample: &Sample) -> bool {
    sample.patterns.iter().any(|it| it.people.iter().flatten().count() > 1)
}

fn add_labels(figures: &mut Figures, sample: &Sample, scale: &Scale, weights: Weights) {
    let labels = scale.labels();
    let n = labels.len();
    let rows = |it: &crate::statistics::Confusion| {
        (0..n).map(|human| (0..n).map(|judge| it.count(human, judge)).collect()).collect::<Vec<Vec<f64>>>()
    };
    figures.matrix = sample.counts(n).as_ref().map(rows).unwrap_or_default();
    if figures.design.is_weighted() {
        let total = sample.n().max(1) as f64;
        let share = |row: Vec<f64>| row.into_iter().map(|it| it / total).collect();
        let weighted = sample.confusion(n, &sample.weights).as_ref().map(rows).unwrap_or_default();
        figures.weighted_matrix = weighted.into_iter().map(share).collect();
    }
    figures.agreement = Some(sample.share(|it| it.gold == Some(it.judge), |_| true));
    let shares = (0..n).map(|label| sample.share(|it| it.gold == Some(label as f64), |_| true).value.unwrap_or(0.0));
    // Of labels that are as common, the first.
    let commonest = shares.enumerate().rev().max_by(|one, other| one.1.total_cmp(&other.1));
    figures.commonest = commonest.map(|(label, share)| Commonest { label: labels[label].to_owned(), share });
    figures.kappa = Some(kappa(sample, n, Weights::None));
    figures.weighted_kappa = (scale.is_ordered() && n > 2).then(|| kappa(sample, n, weights));
    figures.ac1 = Some(ac1(sample, n));
    figures.by_label = (0..n).map(|label| label_figures(sample, labels[label], label as f64)).collect();
}

fn kappa(sample: &Sample, labels: usize, weights: Weights) -> Estimate {
    let of = |by: &[f64]| sample.confusion(labels, by).and_then(|it| cohen_kappa(&it, weights, sample.confidence()));
    sample.figure(
        (-1.0, 1.0),
        |by| of(by)?.kappa,
        || of(&sample.weights).map_or_else(Estimate::default, |it| Estimate::new(it.kappa, it.interval)),
    )
}

fn alpha(sample: &Sample, scale: &Scale, ratings: impl Fn(&Pattern) -> Vec<Option<f64>>) -> Estimate {
    let level = match scale {
        Scale::Scores => Level::Interval,
        Scale::Labels { is_ordered: true, .. } => Level::Ordinal,
        Scale::PassFail | Scale::Labels { .. } => Level::Nominal,
    };
    let of_patterns: Vec<Vec<Option<f64>>> = sample.patterns.iter().map(&ratings).collect();
    sample.figure(
        (-1.0, 1.0),
        |weights| weighted_alpha(&of_patterns, weights, level),
        || {
            let each: Vec<Vec<Option<f64>>> = sample.each().map(&ratings).collect();
            let found = krippendorff_alpha(&each, level, sample.confidence());
            Estimate::new(found.alpha, found.interval)
        },
    )
}

fn ac1(sample: &Sample, labels: usize) -> Estimate {
    let pair = |it: &Pattern| vec![it.gold.map(|it| it as usize), Some(it.judge as usize)];
    let of_patterns: Vec<Vec<Option<usize>>> = sample.patterns.iter().map(pair).collect();
    sample.figure(
        (-1.0, 1.0),
        |weights| weighted_ac1(&of_patterns, weights, labels),
        || {
            let each: Vec<Vec<Option<usize>>> = sample.each().map(pair).collect();
            let found = gwet_ac1(&each, labels, sample.confidence());
            found.map_or_else(Estimate::default, |it| Estimate::new(Some(it.ac1), it.interval))
        },
    )
}

fn label_figures(sample: &Sample, name: &str, label: f64) -> LabelFigures {
    let (is_human, is_judge) = (|it: &Pattern| it.gold == Some(label), |it: &Pattern| it.judge == label);
    // F1 = 2q / (1 + q) grows with q, so its interval follows from that of q.
    let q = sample.share(|it| is_human(it) && is_judge(it), |it| is_human(it) || is_judge(it));
    let f1 = |q: f64| 2.0 * q / (1.0 + q);
    let interval = q.interval.map(|it| crate::statistics::Interval { low: f1(it.low), high: f1(it.high) });
    LabelFigures {
        label: name.to_owned(),
        precision: sample.share(is_human, is_judge),
        recall: sample.share(is_judge, is_human),
        f1: Estimate::new(q.value.map(f1), interval),
    }
}

fn difference(sample: &Sample) -> Estimate {
    let of = |it: &Pattern| it.gold.map_or(0.0, |gold| it.judge - gold);
    let mean = |weights: &[f64]| {
        let total: f64 = weights.iter().sum();
        let sum: f64 = sample.patterns.iter().zip(weights).map(|(it, weight)| of(it) * weight).sum();
        (total > 0.0).then(|| sum / total)
    };
    sample.figure((f64::MIN, f64::MAX), mean, || {
        let values: Vec<f64> = sample.each().map(of).collect();
        let found = cluster_mean(&values, &Clusters::Alone, sample.confidence());
        found.map_or_else(Estimate::default, |it| Estimate::new(Some(it.mean), it.interval))
    })
}

fn add_annotators(figures: &mut Figures, all: &Sample, scale: &Scale, annotators: &[String]) {
    if annotators.len() < 2 {
        return;
    }
    let others = |it: &Pattern, own: usize| {
        let others: Vec<Option<f64>> =
            it.people.iter().enumerate().filter(|(ix, _)| *ix != own).map(|(_, it)| *it).collect();
        gold(&others, scale)
    };
    for (own, annotator) in annotators.iter().enumerate() {
        let is_shared = |it: &Pattern| it.people[own].is_some() && others(it, own).is_some();
        figures.annotators.push(AnnotatorFigures {
            annotator: annotator.clone(),
            labels: all.each().filter(|it| it.people[own].is_some()).count() as u64,
            agreement: all.share(|it| it.people[own] == others(it, own), is_shared),
        });
        for other in own + 1..annotators.len() {
            figures.annotator_pairs.extend(pair(all, scale, annotators, own, other));
        }
    }
}

fn pair(all: &Sample, scale: &Scale, annotators: &[String], own: usize, other: usize) -> Option<AnnotatorPair> {
    let is_shared = |it: &Pattern| it.people[own].is_some() && it.people[other].is_some();
    let cases = all.each().filter(|it| is_shared(it)).count() as u64;
    let labels = scale.labels().len();
    let of = |weights: &[f64]| {
        let mut rows = vec![vec![0.0; labels]; labels];
        for (it, weight) in all.patterns.iter().zip(weights) {
            if let (Some(one), Some(other)) = (it.people[own], it.people[other]) {
                rows[one as usize][other as usize] += weight;
            }
        }
        crate::statistics::Confusion::new(rows).and_then(|it| cohen_kappa(&it, Weights::None, all.confidence()))
    };
    let kappa = all.figure(
        (-1.0, 1.0),
        |weights| of(weights)?.kappa,
        || of(&all.weights).map_or_else(Estimate::default, |it| Estimate::new(it.kappa, it.interval)),
    );
    (cases > 0).then(|| AnnotatorPair {
        one: annotators[own].clone(),
        other: annotators[other].clone(),
        cases,
        agreement: all.share(|it| it.people[own] == it.people[other], is_shared),
        kappa,
    })
}

fn too_few(figures: &Figures) -> Vec<String> {
    let mut reasons = Vec::new();
    if figures.n < LEAST_CASES {
        reasons.push(format!("{} labelled cases, of at least {LEAST_CASES}", figures.n));
    }
    if figures.scale == Scale::PassFail {
        for (label, row) in figures.scale.labels().iter().zip(&figures.matrix) {
            let n: f64 = row.iter().sum();
            if n < LEAST_OF_EACH {
                reasons.push(format!("{n} cases that people {label}, of at least {LEAST_OF_EACH}"));
            }
        }
    }
    reasons
}

/// The number of labels grows with the square of how much narrower an interval must be.
fn advice(figures: &Figures, wanted: Option<f64>) -> Vec<Advice> {
    let corrected = figures.corrected.as_ref().and_then(|it| it.interval).map(|it| it.width() / 2.0);
    let half = |it: Option<Estimate>| it.and_then(|it| it.half_width());
    let named = [
        ("kappa", half(figures.kappa)),
        ("sensitivity", half(figures.sensitivity)),
        ("specificity", half(figures.specificity)),
        ("difference", half(figures.difference)),
        ("corrected", corrected),
    ];
    let advice = |(figure, half_width): (&str, Option<f64>)| {
        let half_width = half_width.filter(|it| *it > 0.0)?;
        let wanted = wanted.unwrap_or(half_width / 2.0);
        let labels = (figures.n as f64 * (half_width / wanted).powi(2)).ceil() as u64;
        let more = labels.saturating_sub(figures.n);
        Some(Advice { figure: figure.to_owned(), half_width, wanted, labels: labels.max(figures.n), more })
    };
    named.into_iter().filter_map(advice).collect()
}
